"""Tables of docs/results.md of what benchmarks found about parsers, from the table of results."""

from __future__ import annotations

import results
from tables import markdown

DECODERS = {
    "MAP": "highest-scoring tree with heads (MAP)",
    "MBR 0.20": "MBR, threshold 0.20",
    "MBR 0.30": "MBR, threshold 0.30",
    "MBR 0.40": "MBR, 0.40",
    "MBR 0.45": "MBR, 0.45",
    "MBR 0.50": "MBR, 0.50",
    "arcs x 0.25": "MBR, 0.45, arcs x 0.25",
    "arcs x 0.5": "MBR, 0.45, arcs x 0.5",
    "arcs x 2.0": "MBR, 0.45, arcs x 2",
    "constituents alone": "constituents alone",
    "heads alone": "heads alone (projective)",
}
GAINS = {
    ("gain_zeroed", "shipped"): "`en_lal_sm`",
    ("gain_zeroed", "output zeroed"): "the same, label attention's output zeroed",
    ("gain_1000_steps", "shipped"): "with label attention, 1,000 steps",
    ("gain_1000_steps", "output zeroed"): "the same, output zeroed",
    ("gain_1000_steps", "none"): "without label attention, 1,000 steps",
}
CALIBRATED = {"calibration": "`en_lal_sm`", "calibration_crf": "two-stage CRF"}


def decoding() -> str:
    """benchmarks/decoding.py"""
    rows = []
    for row in results.read()["decoding_dev"]["rows"]:
        of_spans = [f"{row[f'const_evalb_{key}']:.2f}" for key in "prf"]
        of_heads = [f"{row[f'conll18_{key}']:.2f}" for key in ("uas", "las")]
        if row["decoder"] == "heads alone":
            of_spans = [""] * 3
        if row["decoder"] == "constituents alone":
            of_heads = [""] * 2
        rows.append([DECODERS[row["decoder"]], *of_spans, *of_heads])
    return markdown(["decoder", "precision", "recall", "F1", "UAS", "LAS"], rows)


def gain() -> str:
    """benchmarks/label_attention_gain.py"""
    keys = ("const_evalb_f", "const_evalb_p", "const_evalb_r", "const_complete", "tag_acc")
    runs = results.read()
    rows = []
    for (run, name), title in GAINS.items():
        (row,) = (row for row in runs[run]["rows"] if row["name"] == name)
        rows.append([title, *(f"{100 * row[key]:.2f}" for key in keys)])
    return markdown(["parser", "F1", "precision", "recall", "complete", "tags"], rows)


def calibration() -> str:
    """benchmarks/calibration.py"""
    runs = results.read()
    of = {run: {t["what"]: t for t in runs[run]["tables"]} for run in CALIBRATED}
    bins = [of[run]["constituents"]["bins"] for run in CALIBRATED]
    rows = []
    for of_bin in zip(*bins, strict=True):
        cells = [f"{of_bin[0]['from']:.1f}-{of_bin[0]['to']:.1f}"]
        for found in of_bin:
            if found["count"]:
                shares = (found["mean_probability"], found["right"])
                cells += [f"{found['count']:,}", *(f"{100 * share:.1f}" for share in shares)]
        if len(cells) > 1:
            rows.append(cells)
    header = ["probability"]
    for name in CALIBRATED.values():
        header += [f"{name}: constituents", "mean probability, %", "right, %"]
    errors = [
        [
            name,
            *(
                cell
                for what in ("constituents", "whole trees")
                for cell in (f"{100 * of[run][what]['ece']:.2f} %", f"{of[run][what]['brier']:.4f}")
            ),
        ]
        for run, name in CALIBRATED.items()
    ]
    titles = ["", "constituents: expected calibration error", "Brier score"]
    titles += ["whole trees: expected calibration error", "Brier score"]
    return f"{markdown(header, rows)}\n{markdown(titles, errors)}"


def scaling() -> str:
    """benchmarks/crf_scaling.py"""
    measured = {
        (row["question"], row["words"], row["sentences"]): row
        for row in results.read()["crf_scaling"]["distribution"]
    }
    rows = []
    for question in dict.fromkeys(question for question, _, _ in measured):
        alone = [f"{measured[question, n, 1]['ms']:.1f}" for n in (50, 100, 200, 400)]
        many, memory = measured[question, 50, 63]["ms"], measured[question, 400, 1]["peak_mb"]
        rows.append([question, *alone, f"{many:.0f}", f"{memory:.1f}"])
    return markdown(["", "n = 50", "100", "200", "400", "63 x 50", "MB at 400"], rows)
