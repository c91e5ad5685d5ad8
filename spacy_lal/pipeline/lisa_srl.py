"""`lisa_srl`: semantic roles by linguistically-informed self-attention (Strubell et al. 2018)."""

from __future__ import annotations

from collections.abc import Callable

from spacy.language import Language
from thinc.api import Config, Model

from ..frames import FRAMES_KEY
from ..models.batching.sentences import LongSentencePolicy, SentencePolicy
from ..models.lisa.decoding import RoleDecoding
from ..models.lisa.model import LisaInput, LisaPrediction
from .parser import DEFAULT_INPUT
from .semantic_roles import LisaSRL, Source

DEFAULT_MODEL = Config().from_str(
    """
    [model]
    @architectures = "spacy-lal.LISA.v1"
    """
    + DEFAULT_INPUT
)["model"]


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
        "own_paths": 0.5,
        "overwrite_heads": False,
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
    own_paths: float,
    overwrite_heads: bool,
    sentences: SentencePolicy,
    max_sentence_length: int,
    long_sentences: LongSentencePolicy,
    scorer: Callable | None,
) -> LisaSRL:
    """Construct the component.

    model: maps a `LisaInput` to `LisaScores`. spans_key: of the span group with the frames.
    parse_source: what the syntactic head attends to, the model's own parse ("model"), or the heads
        that the Doc has when the component comes to it ("doc"): of any parser before it, or gold
        ones. Words without a head there, and Docs without any, have the model's.
    predicate_source: "model" finds predicates; "doc" takes those of the frames that are in
        doc.spans[spans_key] already, and their rolesets with them; a Doc without that group has the
        model's. Both can be changed on a trained component: they are attributes.
    decoder: of role labels: "valid", the best sequence that is valid BIO; "probabilities", with the
        transition probabilities of the training data added to scores as they are, which is what the
        paper's program does; "viterbi", with their logarithms; "greedy", each word's best label.
    unique_core_roles: no core role (ARG0 to ARG5, ARGA) twice in a frame; its continuations and
        references (C-ARG1, R-ARG1) don't count. The paper has no such rule, nor has "greedy".
    joint_weight, arc_weight, relation_weight, role_weight: of the losses (eq. 7 has two, on arcs
        and relations); tag_weight: of that of a BiLSTM below, which predicts tags on its way.
        label_smoothing: of role labels.
    own_paths: in which share of training sentences the paths of a model with `role_paths` go by the
        heads that it finds, as they will in prediction, not by gold ones.
    overwrite_heads: write the model's own heads also to Docs that have some.
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
        own_paths=own_paths,
        overwrite_heads=overwrite_heads,
        sentences=sentences,
        max_sentence_length=max_sentence_length,
        long_sentences=long_sentences,
        scorer=scorer,
    )
