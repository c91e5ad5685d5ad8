"""`lal_constituency`: constituency trees by label attention (Mrini et al. 2020)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy
import torch
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import logger
from spacy.vocab import Vocab
from thinc.api import Config, Model
from torch import Tensor

from ..annotations import get_constituents, install_extensions, set_constituents
from ..models.bridge import load_weights, save_weights, torch_shim, weights_elsewhere
from ..models.charts import SentenceParse, decode, gold_labels
from ..models.decoders import Decoder, MinimumBayesRisk
from ..models.label_attention_parser import ParserScores, SentenceBatch
from ..models.objectives import Objective, margin_loss
from ..models.sentences import LongSentencePolicy, Sentence, SentencePolicy
from ..models.word_affix_embed import learn_vocabulary
from ..structure.binarise import JOIN, collapse_unaries, crossing
from ..trees import LabelledSpan
from .gold import gold_constituents, gold_tags, in_words

DEFAULT_MODEL = Config().from_str(
    """
    [model]
    @architectures = "spacy-lal.LabelAttentionParser.v1"
    hidden_width = 250

    [model.tok2vec]
    @architectures = "spacy-lal.WordAffixEmbed.v1"
    word_width = 128
    affix_width = 32

    [model.rows]
    @misc = "spacy-lal.BiLSTMRows.v1"
    hidden_width = 300
    depth = 3
    tag_depth = 1
    tag_width = 64

    [model.encoder]
    @misc = "spacy-lal.LabelAttentionEncoder.v1"
    heads = 64
    key_width = 64
    value_width = 64
    projection_width = 16
    arrangement = "concatenate"
    """
)["model"]

WEIGHTS = "model.safetensors"


@Language.factory(
    "lal_constituency",
    assigns=["doc.spans", "token.tag", "token.is_sent_start", "doc._.trees", "span._.tree"],
    default_config={
        "model": DEFAULT_MODEL,
        "objective": {"@misc": "spacy-lal.crf_objective.v1"},
        "decoder": {"@misc": "spacy-lal.mbr_decoder.v1"},
        "tag_weight": 1.0,
        "spans_key": "constituents",
        "sentences": "split",
        "max_sentence_length": 512,
        "long_sentences": "split",
        "scorer": {"@scorers": "spacy-lal.constituency_scorer.v1"},
    },
    default_score_weights={
        "const_evalb_f": 1.0,
        "const_evalb_p": 0.0,
        "const_evalb_r": 0.0,
        "const_complete": 0.0,
        "tag_acc": 0.0,
        "spans_constituents_f": 0.0,
        "spans_constituents_p": None,
        "spans_constituents_r": None,
        "spans_constituents_per_type": None,
    },
)
def make_lal_constituency(
    nlp: Language,
    name: str,
    model: Model[list[Doc], ParserScores],
    objective: Objective,
    decoder: Decoder,
    tag_weight: float,
    spans_key: str,
    sentences: SentencePolicy,
    max_sentence_length: int,
    long_sentences: LongSentencePolicy,
    scorer: Callable | None,
) -> LabelAttentionConstituency:
    """Construct the component.

    model: maps Docs to `ParserScores`. objective: the loss of the charts of label scores.
    decoder: chooses the tree; minimum Bayes risk by default, which needs the CRF objective: with
        the margin objective, take `spacy-lal.map_decoder.v1`.
    tag_weight: weight of the tagging loss. spans_key: the span group that holds the trees.
    sentences: "split" keeps the Doc's sentences and finds them by rule where it has none,
        "existing" insists on them, "doc" reads every Doc as one sentence.
    max_sentence_length: in words; over it, `long_sentences` says whether to parse a sentence in
        pieces ("split"), to leave it without constituents and tags ("flat") or to raise ("error").
    """
    return LabelAttentionConstituency(
        nlp.vocab,
        model,
        name,
        objective=objective,
        decoder=decoder,
        tag_weight=tag_weight,
        spans_key=spans_key,
        sentences=sentences,
        max_sentence_length=max_sentence_length,
        long_sentences=long_sentences,
        scorer=scorer,
    )


class LabelAttentionConstituency(TrainablePipe):
    """Writes `doc.spans["constituents"]`, and tags and sentence starts where there are none."""

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], ParserScores],
        name: str,
        *,
        objective: Objective,
        decoder: Decoder,
        tag_weight: float,
        spans_key: str,
        sentences: SentencePolicy,
        max_sentence_length: int,
        long_sentences: LongSentencePolicy,
        scorer: Callable | None,
    ) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.objective = objective
        self.decoder = decoder
        self.tag_weight = tag_weight
        self.spans_key = spans_key
        if max_sentence_length < 1:
            raise ValueError(f"max_sentence_length must be at least 1, got {max_sentence_length}")
        if objective is margin_loss and isinstance(decoder, MinimumBayesRisk):
            raise ValueError(
                "scores trained with spacy-lal.margin_objective.v1 are no log-probabilities: use "
                'decoder = {"@misc": "spacy-lal.map_decoder.v1"}'
            )
        self.settings = {
            "sentences": sentences,
            "max_sentence_length": max_sentence_length,
            "long_sentences": long_sentences,
            "max_batch_spans": model.attrs.get("max_batch_spans"),
        }
        self.scorer = scorer
        self.cfg: dict[str, Any] = {"labels": [], "tags": []}
        self._configure_model()
        install_extensions()

    def _configure_model(self) -> None:
        """The pipeline's config decides over settings, whatever was stored with the weights."""
        self.model.attrs.update(self.settings)
        # the scorer is given cfg
        self.cfg["spans_key"] = self.spans_key

    @property
    def labels(self) -> tuple[str, ...]:
        """Constituent labels; a unary chain is one label, its parts joined by "::"."""
        return tuple(self.cfg["labels"])

    @property
    def tags(self) -> tuple[str, ...]:
        """The part-of-speech tags that the parser predicts for itself."""
        return tuple(self.cfg["tags"])

    @property
    def label_data(self) -> dict[str, list[str]]:
        return {"labels": list(self.labels), "tags": list(self.tags)}

    def add_label(self, label: str) -> int:
        """Add a constituent label before initialisation. Returns 1 if it is new, else 0."""
        if not isinstance(label, str):
            raise ValueError(f"a label is a string, not {label!r}")
        if label in self.cfg["labels"]:
            return 0
        self._check_no_weights(f"label {label!r}")
        self.cfg["labels"].append(label)
        return 1

    def _check_no_weights(self, what: str) -> None:
        if torch_shim(self.model).header is not None:
            raise ValueError(f"can't add {what} to {self.name!r}: its model is already initialised")

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, list[str]] | None = None,
    ) -> None:
        """Read labels, tags and vocabulary off the training data and set up the model.

        labels: what `label_data` gave (`spacy init labels`), instead of reading them.
        Raises ValueError if no example has a tree, or one has constituents that cross.
        """
        validate_get_examples(get_examples, f"{self.name}.initialize")
        found: Counter[str] = Counter()
        tags: Counter[str] = Counter()
        sample: list[Doc] = []
        with_trees = docs = 0
        for example in get_examples():
            docs += 1
            if len(sample) < 10:
                sample.append(example.predicted)
            tags.update(t.tag_ for t in example.reference if t.tag_ and not t.is_space)
            if self.spans_key in example.reference.spans:
                with_trees += 1
                spans = get_constituents(example.reference, self.spans_key)
                if pair := crossing(spans):
                    raise ValueError(
                        f"constituents {pair[0]} and {pair[1]} cross in the training Doc "
                        f"{example.reference.text[:60]!r}: they are no tree"
                    )
                found.update(label for _, _, label in collapse_unaries(spans))
        if labels is not None:
            self.cfg["labels"], self.cfg["tags"] = list(labels["labels"]), list(labels["tags"])
            if not self.labels:
                raise ValueError(f"the labels given to {self.name!r} have no constituent label")
        elif not found:
            raise ValueError(
                f"none of the {docs} training Docs has a tree in doc.spans[{self.spans_key!r}]. "
                "Note that spacy.Corpus.v1 with max_length or gold_preproc drops span groups: "
                "use spacy-lal.Corpus.v1"
            )
        else:
            known = self.cfg["labels"]
            self.cfg["labels"] = [*known, *sorted(set(found) - set(known))]
            self.cfg["tags"] = sorted(tags)
        if with_trees < docs:
            logger.info(
                "%s: %d of %d training Docs have no tree and train tags only",
                self.name,
                docs - with_trees,
                docs,
            )
        learn_vocabulary(self.model, (example.reference for example in get_examples()))
        self.model.attrs.update(labels=list(self.labels), tags=list(self.tags))
        self.model.initialize(X=sample)

    def predict(self, docs: Iterable[Doc]) -> tuple[list[Sentence], dict[int, SentenceParse]]:
        """Sentences of all docs, and the parses of those that were parsed, by their index."""
        docs = list(docs)
        self._check_initialised()
        scores = self.model.predict(docs)
        return scores.sentences, decode(scores, self.decoder)

    def _check_initialised(self) -> None:
        if torch_shim(self.model).header is None:
            raise ValueError(
                f"[E109] component {self.name!r} has no weights yet: train it with `spacy train`, "
                "call nlp.initialize(), or load a trained pipeline"
            )

    def set_annotations(
        self, docs: Iterable[Doc], scores: tuple[list[Sentence], dict[int, SentenceParse]]
    ) -> None:
        """Write the trees; write tags and sentence starts to tokens that have none."""
        docs = list(docs)
        sentences, parses = scores
        chains = [label.split(JOIN) for label in self.labels]
        spans: list[list[LabelledSpan]] = [[] for _ in docs]
        spans_scores: list[list[float | None]] = [[] for _ in docs]
        starts: list[set[int]] = [{0} for _ in docs]
        for k, sentence in enumerate(sentences):
            if sentence.first:
                starts[sentence.doc].add(sentence.start)
            parse = parses.get(k)
            if parse is None:
                continue
            words = sentence.words.tolist()
            columns = [parse.starts.tolist(), parse.ends.tolist(), parse.labels.tolist()]
            probabilities: list[float | None] = [None] * len(parse.labels)
            if parse.probabilities is not None:
                probabilities = parse.probabilities.tolist()
            for i, j, label, probability in zip(*columns, probabilities, strict=True):
                for category in chains[label - 1]:
                    spans[sentence.doc].append((words[i], words[j - 1] + 1, category))
                    spans_scores[sentence.doc].append(probability)
            if self.tags:
                doc = docs[sentence.doc]
                for i, tag in zip(words, parse.tags.tolist(), strict=True):
                    token = doc[i]
                    if not token.tag:
                        token.tag_ = self.tags[tag]
        for doc, of_doc, scores_of_doc, starts_of_doc in zip(
            docs, spans, spans_scores, starts, strict=True
        ):
            set_constituents(doc, of_doc, scores_of_doc, key=self.spans_key)
            known = doc.has_annotation("SENT_START")
            if self.settings["sentences"] == "doc":
                # boundaries inside would cut the tree; those of a parser can't be undone
                known = doc.has_annotation("DEP")
            if len(doc) and not known:
                # not token.is_sent_start, whose setter looks at the whole Doc every time
                values: Any = numpy.full(len(doc), -1, dtype="int64")
                values[list(starts_of_doc)] = 1
                doc.from_array([SENT_START], values.view("uint64"))

    def get_loss(
        self, examples: Iterable[Example], scores: ParserScores
    ) -> tuple[float, ParserScores]:
        """The loss per word and its gradient with respect to every score.

        Sentences without a gold tree, or with a label that is not in `labels`, count for their
        tags only; words without a gold tag do not count at all.
        """
        examples = list(examples)
        validate_examples(examples, f"{self.name}.get_loss")
        index = {label: k for k, label in enumerate(self.labels, 1)}
        tag_index = {tag: k for k, tag in enumerate(self.tags)}
        trees = [gold_constituents(example, self.spans_key) for example in examples]
        tags = [gold_tags(example) for example in examples]
        batches = list(scores.batches)
        total = sum(int(batch.lengths.sum()) for batch in batches) or 1
        loss = 0.0
        gradients = []
        for batch in batches:
            n = batch.tags.shape[1]
            members = [scores.sentences[k] for k in batch.members]
            of_batch = [in_words(trees[s.doc] or (), s) for s in members]
            gold = gold_labels(of_batch, n, index).to(batch.labels.device)
            # a label that was not there at initialisation is no evidence for "no constituent"
            known = [all(label in index for *_, label in collapse_unaries(t)) for t in of_batch]
            has_tree = torch.tensor(
                [trees[s.doc] is not None and k for s, k in zip(members, known, strict=True)],
                device=gold.device,
            )
            gold_of_words = torch.full(batch.tags.shape[:2], -1)
            for row, sentence in enumerate(members):
                for k, i in enumerate(sentence.words.tolist()):
                    gold_of_words[row, k] = tag_index.get(tags[sentence.doc][i], -1)
            labels = batch.labels.detach().requires_grad_()
            tag_scores = batch.tags.detach().requires_grad_()
            value = (
                (self.objective(labels, gold, batch.lengths) * has_tree).sum()
                + self.tag_weight * _cross_entropy(tag_scores, gold_of_words)
            ) / total
            value.backward()
            loss += float(value.detach())
            gradients.append(
                SentenceBatch(batch.members, batch.lengths, _grad(labels), _grad(tag_scores))
            )
        return loss, ParserScores(scores.sentences, gradients)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        self._check_initialised()
        return super().update(examples, drop=drop, sgd=sgd, losses=losses)

    def from_bytes(
        self, bytes_data: bytes, *, exclude: Iterable[str] = ()
    ) -> LabelAttentionConstituency:
        super().from_bytes(bytes_data, exclude=exclude)
        self._configure_model()
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the component; the weights of its torch modules to `model.safetensors`."""
        path, exclude = Path(path), list(exclude)
        super().to_disk(path, exclude=[*exclude, "model"])
        if "model" not in exclude:
            with weights_elsewhere(self.model):
                self.model.to_disk(path / "model")
            save_weights(self.model, path / WEIGHTS)

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> LabelAttentionConstituency:
        """Read what `to_disk` wrote. Raises ValueError, naming the file, if it is damaged."""
        path, exclude = Path(path), list(exclude)
        super().from_disk(path, exclude=[*exclude, "model"])
        if "model" not in exclude:
            try:
                self.model.from_disk(path / "model")
            except (ValueError, KeyError, TypeError, AttributeError) as err:
                raise ValueError(f"{path / 'model'}: damaged, or another model's: {err}") from err
            if not (path / WEIGHTS).exists():
                raise ValueError(f"{path / WEIGHTS}: no such file; the weights are missing")
            load_weights(self.model, path / WEIGHTS)
        self._configure_model()
        return self


def _cross_entropy(scores: Tensor, gold: Tensor) -> Tensor:
    """Sum over the words with a gold tag; scores [B, n, T], gold [B, n], -1 for none."""
    return torch.nn.functional.cross_entropy(
        scores.flatten(0, 1), gold.flatten().to(scores.device), ignore_index=-1, reduction="sum"
    )


def _grad(leaf: Tensor) -> Tensor:
    return leaf.grad if leaf.grad is not None else torch.zeros_like(leaf)
