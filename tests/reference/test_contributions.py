"""Contributions of label attention heads against those that the released parser prints."""

import torch

from spacy_lal.interpret.explanation import head_sums, span_contributions
from spacy_lal.structure.chart import packed_spans

from .test_lal_parser import Group, build


def test_contributions(load_arrays, load_json):
    compared = 0
    variants = load_json("lal_parser")["variants"]
    for variant, arrays in load_arrays("lal_parser").items():
        hparams, n_heads = variants[variant]["hparams"], variants[variant]["d_l"]
        parameters = Group(arrays, "param")
        for name in [name for name in arrays if name.endswith("/contrib")]:
            rows = arrays[name.replace("contrib", "emb")].unsqueeze(0).double()
            encoder, _ = build(hparams, n_heads, parameters)
            with torch.no_grad():
                annotations = encoder(rows, torch.ones(rows.shape[:2], dtype=torch.bool))
            starts, ends = packed_spans(rows.shape[1] - 2)
            # The released code takes its softmax in float32: to add the heads' exponentials may
            # cost half an epsilon a head, and rounding the input, exp and the quotient four more.
            rounding = (n_heads + 4) * torch.finfo(torch.float32).eps / 2
            actual = span_contributions(
                head_sums(annotations, n_heads)[0], starts, ends, method="softmax"
            )
            assert actual.dtype == torch.float64
            expected = arrays[name][starts, ends].double()
            torch.testing.assert_close(actual, expected, rtol=rounding, atol=0)
            compared += 1
    assert compared
