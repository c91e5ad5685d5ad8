"""`lisa_srl`: semantic roles by linguistically-informed self-attention (Strubell et al. 2018)."""

from collections.abc import Callable

from spacy.language import Language
from thinc.api import Model

from ..annotations.frames import FRAMES_KEY
from ..batching.sentences import LongSentencePolicy, Reading, SentencePolicy
from ..parsing.component import DEFAULT_INPUT
from .decoding import RoleDecoding
from .model import LisaInput, LisaPrediction
from .semantic_roles import LisaSRL, Source

DEFAULT_MODEL = {"@architectures": "spacy-lal.LISA.v1"} | DEFAULT_INPUT
"""The model of a component whose config names none."""


@Language.factory(
    "lisa_srl",
    assigns=["doc.spans", "token.tag", "token.head", "token.dep", "doc.sents"],
    default_config={
        "model": DEFAULT_MODEL,
        "spans_key": FRAMES_KEY,
        "parse_source": "model",
        "predicate_source": "model",
        "decoder": "valid",
        "unique_core_roles": True,
        "joint_weight": 1.0,
        "arc_weight": 1.0,
        "relation_weight": 0.1,
        "role_weight": 1.0,
        "tag_weight": 1.0,
        "label_smoothing": 0.1,
        "predicted_path_rate": 0.5,
        "overwrite_heads": False,
        "overwrite_parser": None,
        "nonconstituent_penalty": 0.0,
        "sentences": "split",
        "max_sentence_length": 512,
        "long_sentences": "split",
        "scorer": {"@scorers": "spacy-lal.srl_scorer.v1"},
    },
    default_score_weights={
        "srl_f": 1.0,
        "srl_p": 0.0,
        "srl_r": 0.0,
        "srl_per_type": None,
        "srl_pred_f": 0.0,
        "srl_pred_p": None,
        "srl_pred_r": None,
        "spans_srl_f": None,
        "spans_srl_p": None,
        "spans_srl_r": None,
        "spans_srl_per_type": None,
        "tag_acc": None,
        "dep_uas": None,
        "dep_las": None,
    },
)
def make_lisa_srl(
    nlp: Language,
    name: str,
    model: Model[LisaInput, LisaPrediction],
    spans_key: str,
    parse_source: Source,
    predicate_source: Source,
    decoder: RoleDecoding,
    unique_core_roles: bool,
    joint_weight: float,
    arc_weight: float,
    relation_weight: float,
    role_weight: float,
    tag_weight: float,
    label_smoothing: float,
    predicted_path_rate: float,
    overwrite_heads: bool,
    overwrite_parser: float | None,
    nonconstituent_penalty: float,
    sentences: SentencePolicy,
    max_sentence_length: int,
    long_sentences: LongSentencePolicy,
    scorer: Callable | None,
) -> LisaSRL:
    """Construct the component.

    model: maps a `LisaInput` to `LisaScores`. spans_key: name of the span group with the frames.
    parse_source: what the syntactic head attends to: "model", the model's own parse; "doc", the
        heads that the Doc already has, from an earlier parser or gold ones. If a word or a Doc has
        no head, the model's are used.
    predicate_source: "model" finds predicates; "doc" takes those of the frames that are already in
        doc.spans[spans_key], with their rolesets. If a Doc has no such group, the model's are
        used. parse_source and predicate_source are attributes; change them at any time. A pipeline
        that is saved keeps those of its config.
    decoder: how role labels are chosen: "valid", the best sequence that is valid BIO;
        "probabilities", the same with the transition probabilities of the training data added to
        the scores, as in the paper's program; "viterbi", with the logarithms of the transition
        probabilities added; "greedy", each word's best label.
    unique_core_roles: whether a core role (ARG0 to ARG5, ARGA) may occur only once in a frame; its
        continuations and references (C-ARG1, R-ARG1) don't count. The paper has no such rule.
        "greedy" ignores it.
    joint_weight, arc_weight, relation_weight, role_weight: weights of the losses (eq. 7 has two, on
        arcs and relations). tag_weight: weight of the loss of the tags that a BiLSTM below
        predicts. label_smoothing: label smoothing of the role labels.
    predicted_path_rate: in a model with `role_paths`, the share of training sentences whose paths
        follow the
        heads that the model finds, as in prediction, instead of gold heads.
    overwrite_heads: write the model's own heads also to Docs that have some.
    overwrite_parser: a number: overwrite the tags and the heads that `lal_constituency` has just
        written,
        but none that the Doc had before. The number says how much these heads count: it is added to
        the logarithms of their probabilities, and of those of their relations.
    nonconstituent_penalty: what an argument of several words loses if it is no constituent of
        doc.spans["constituents"], in the units of the scores of roles. 0: any words may be an
        argument, as in the paper. Only the decoder "valid" reads it, and only where a Doc has
        constituents.
    sentences, max_sentence_length, long_sentences: as for `lal_dependency`; a sentence that is too
        long to be read ("flat") has no frames.
    """
    return LisaSRL(
        nlp.vocab,
        model,
        name,
        spans_key=spans_key,
        parse_source=parse_source,
        predicate_source=predicate_source,
        decoder=decoder,
        unique_core_roles=unique_core_roles,
        joint_weight=joint_weight,
        arc_weight=arc_weight,
        relation_weight=relation_weight,
        role_weight=role_weight,
        tag_weight=tag_weight,
        label_smoothing=label_smoothing,
        predicted_path_rate=predicted_path_rate,
        overwrite_heads=overwrite_heads,
        overwrite_parser=overwrite_parser,
        nonconstituent_penalty=nonconstituent_penalty,
        reading=Reading(sentences, max_sentence_length, long_sentences),
        scorer=scorer,
    )


def use_heads_of_docs(nlp: Language) -> Language:
    """Set every `lisa_srl` to `parse_source = "doc"`, and say so in the pipeline's config.

    `spacy assemble` takes a component with the settings of the pipeline that it was trained in.
    There it had no parser in front of it.
    """
    # those that are disabled too, as the ones that `spacy assemble` takes are while it initializes
    for name, pipe in nlp.components:
        if isinstance(pipe, LisaSRL):
            # the config that spaCy keeps, no copy
            nlp.get_pipe_config(name)["parse_source"] = pipe.parse_source = "doc"
    return nlp


def make_heads_of_docs() -> Callable[[Language], Language]:
    """The callback `spacy-lal.heads_of_docs.v1`, for `[initialize.after_init]`."""
    return use_heads_of_docs
