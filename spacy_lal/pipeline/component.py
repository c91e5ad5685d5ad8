"""A trainable component that stores its torch modules, except transformers, as safetensors."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar, cast, get_type_hints

import spacy
import srsly
from spacy.language import Language
from spacy.pipeline import Tok2Vec, TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger, raise_error
from spacy.vocab import Vocab
from thinc.api import Model

from ..annotations import install_extensions, install_noun_chunks
from ..annotations.escapes import read_escapes
from ..bridge.shim import configured, model_from_disk, model_to_disk, naming, torch_shim
from ..bridge.warm_start import adopt_vocabulary, take_weights
from ..bridge.weights import WEIGHTS
from ..embeddings.forms import learn_vocabulary
from ..encoders.shared import SharedEncoder

Self = TypeVar("Self", bound="WeightsPipe")


class WeightsPipe(TrainablePipe):
    """Base class of components: it stores weights, and raises a clear error if there are none."""

    spans_key = ""
    """The span group that the component writes; "" for none."""
    label_kind = "labels"
    """The kind of names in `cfg` that `add_label` adds to."""
    encoder: SharedEncoder | None = None
    """The pipeline's `lal_tok2vec` that the component listens to."""

    def __init__(
        self, vocab: Vocab, model: Model, name: str, scorer: Callable | None, **cfg: Any
    ) -> None:
        self.vocab, self.model, self.name, self.scorer = vocab, model, name, scorer
        self.cfg: dict[str, Any] = cfg
        self._warned: set[str] = set()
        self._configure_model()
        install_extensions()
        install_noun_chunks(vocab)
        read_escapes(vocab)

    def _configure_model(self) -> None:
        """Apply the config's settings over stored ones; called after the weights are read."""
        if self.spans_key:
            self.cfg["spans_key"] = self.spans_key  # the scorer is given cfg

    def _outputs(self) -> dict[str, list[str]]:
        return cast(dict[str, list[str]], self.label_data)

    def _check_cfg(self) -> None:
        """Raise ValueError if `cfg`, just read, doesn't fit the weights."""
        header = torch_shim(self.model).header
        if header is None:
            return
        for kind, names in self._outputs().items():
            trained = header.get(kind)
            if names != trained:
                differs = [
                    f"{k + 1} is {name!r} here and {other!r} there"
                    for k, (name, other) in enumerate(zip_longest(names, trained or ()))
                    if name != other
                ]
                raise ValueError(f"the {kind} are not those of {WEIGHTS}: {differs[0]}")

    def _has_gold(self, doc: Doc) -> bool:
        """Whether a Doc has what the component is trained and scored on."""
        return self.spans_key in doc.spans

    def _warn_once(self, about: str, message: str) -> None:
        if about not in self._warned:
            self._warned.add(about)
            logger.warning("%s: %s", self.name, message)

    def _warn_unknown(self, kind: str, names: Counter[str]) -> None:
        """Warn once about names of the training data that the model has no output for."""
        unknown = {name: n for name, n in names.items() if name and name not in self.cfg[kind]}
        if unknown:
            name, count = max(unknown.items(), key=itemgetter(1))
            self._warn_once(
                kind,
                f"{name!r}, {count} times in this batch, was not among the {kind} at "
                "initialisation; what has it is left out of this and of later updates",
            )

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return the scorer's scores. Warns once if no Doc has gold."""
        examples = list(examples)
        if self.scorer and examples and not any(self._has_gold(e.reference) for e in examples):
            self._warn_once(
                "score",
                f"none of the {len(examples)} Docs to score has gold ({self._gold}): all scores "
                "of it are missing, which training shows as 0.00",
            )
        return cast(dict[str, Any], super().score(examples, **kwargs))

    @property
    def _gold(self) -> str:
        return f"doc.spans[{self.spans_key!r}]"

    def add_label(self, label: str) -> int:
        """Add a label before initialisation. Returns 1 if it is new, else 0. Raises ValueError once
        the model is initialised."""
        names = self.cfg.get(self.label_kind)
        if names is None:
            return super().add_label(label)
        if not isinstance(label, str):
            raise ValueError(f"a label is a string, not {label!r}")
        if label in names:
            return 0
        if torch_shim(self.model).header is not None:
            raise ValueError(
                f"can't add label {label!r} to {self.name!r}: its model is already initialised"
            )
        names.append(label)
        return 1

    def _initialize_weights(
        self,
        get_examples: Callable[[], Iterable[Example]],
        sample: Any,
        warm_start: str | None,
        nlp: Language | None,
    ) -> None:
        """Set up the model with the training data's words and, where they fit, others' weights.
        sample: an input of the model. warm_start: a trained pipeline. nlp: the pipeline, read for
            `training.max_epochs`."""
        source = self._pretrained(warm_start)
        learned = learn_vocabulary(self.model, (example.reference for example in get_examples()))
        if source is not None:
            adopt_vocabulary(self.model, source)
        elif learned and nlp is not None and nlp.config.get("training", {}).get("max_epochs") == -1:
            self._warn_once(
                "vocabulary",
                "with max_epochs = -1 spaCy shows it the first 100 examples alone; words that are "
                "not in them stay unknown to it. With max_epochs = 0 it sees all of them",
            )
        self.model.attrs.update(self._outputs())
        self.model.initialize(X=sample)
        if source is not None:
            taken, total = take_weights(self.model, source)
            if not taken:
                raise ValueError(
                    f"warm_start: no parameter of {warm_start} fits a parameter of {self.name!r}"
                )
            logger.info(
                "%s: %d of %d parameters begin as those of %s", self.name, taken, total, warm_start
            )

    def _pretrained(self, warm_start: str | None) -> Model | None:
        if warm_start is None:
            return None
        other = spacy.load(warm_start)
        candidates = [pipe for _, pipe in other.pipeline if isinstance(pipe, WeightsPipe)]
        if not candidates:
            raise ValueError(f"warm_start: {warm_start} has no component of this package")
        named = [pipe for pipe in candidates if pipe.name == self.name]
        alike = [pipe for pipe in candidates if type(pipe) is type(self)]
        pipe = (named or alike or candidates)[0]
        for _, shared in other.pipeline:
            if isinstance(shared, Tok2Vec):
                for listener in shared.listener_map.get(pipe.name, ()):
                    pipe.model.replace_node(listener, shared.model)
        return cast(Model, pipe.model)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Train on a batch, as spaCy's `update`. Raises ValueError without weights."""
        self._check_initialised()
        return super().update(examples, drop=drop, sgd=sgd, losses=losses)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Yield the annotated Docs, as spaCy's `pipe`. A batch has `batch_size` Docs, or fewer of
        more than `MOST_WORDS` words. With an error handler, the Docs of a batch that fails are
        annotated one by one, and the handler gets only those that fail alone."""
        handler = self.get_error_handler()
        for docs in _batches(stream, batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception as error:
                if handler is raise_error or len(docs) == 1:
                    handler(self.name, self, docs, error)
                    continue
                docs = [doc for doc in map(self, docs) if doc is not None]
            yield from docs

    def read_by_encoder(self, doc: Doc) -> Doc:
        """Return a Doc that the shared encoder has read: this one, or a copy."""
        if self.encoder is None or (doc.tensor is not None and doc.tensor.size):
            return doc
        copy = doc.copy()
        self.encoder.read(copy)
        return copy

    def _check_initialised(self) -> None:
        if torch_shim(self.model).header is None:
            raise ValueError(
                f"[E109] component {self.name!r} has no weights yet: train it with `spacy train`, "
                "call nlp.initialize(), or load a trained pipeline"
            )

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle as in spaCy; unpickling processes have the extension attributes."""
        make, arguments, *rest = cast(Any, super().__reduce_ex__(protocol))
        return (_with_extensions, (make, arguments), *rest)

    def from_bytes(self: Self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Read the output of `to_bytes`. Raises ValueError if it is damaged."""
        with naming(f"the bytes of {self.name!r}"):
            with configured(self.model):
                super().from_bytes(bytes_data, exclude=exclude)
            self._configure_model()
            self._check_cfg()
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the component, with the weights of its torch modules in `model.safetensors`."""
        path, exclude = Path(path), list(exclude)
        super().to_disk(path, exclude=[*exclude, "model"])
        if "model" not in exclude:
            model_to_disk(self.model, path)

    def from_disk(self: Self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read the output of `to_disk`. Raises ValueError, naming the file, if it is damaged."""
        path, exclude = Path(path), list(exclude)
        with naming(path / "cfg"):
            if "cfg" not in exclude:
                self.cfg.update(srsly.read_json(path / "cfg"))
        if "vocab" not in exclude:
            with naming(path / "vocab"):
                self.vocab.from_disk(path / "vocab", exclude=exclude)
        if "model" not in exclude:
            model_from_disk(self.model, path)
        self._configure_model()
        with naming(path / "cfg"):
            self._check_cfg()
        return self


MOST_WORDS = 1 << 14
"""Most words in a batch of several Docs, whose vectors are in memory together."""


def _batches(stream: Iterable[Doc], batch_size: int) -> Iterator[list[Doc]]:
    docs: list[Doc] = []
    words = 0
    for doc in stream:
        if docs and words + len(doc) > MOST_WORDS:
            yield docs
            docs, words = [], 0
        docs.append(doc)
        words += len(doc)
        if len(docs) == batch_size:
            yield docs
            docs, words = [], 0
    if docs:
        yield docs


def _with_extensions(make: Callable, arguments: tuple[Any, ...]) -> Any:
    install_extensions()
    return make(*arguments)


def register_factory(
    name: str,
    component: Callable[..., Any],
    *,
    assigns: Sequence[str],
    score_weights: Mapping[str, float | None],
    **blocks: Any,
) -> Callable[..., Any]:
    """Register `component` under `name` and return the factory for an entry point.

    component: a class whose `__init__` takes `nlp`, `name` and the config's settings. Its type
        hints validate the config, its default values are the default config.
    blocks: default values of settings that are config blocks, such as `model` and `scorer`.
    """
    signature = inspect.signature(component, eval_str=True)

    def make(**settings: Any) -> Any:
        return component(**settings)

    # spaCy and confection read names from the one, types from the other
    make.__signature__ = signature  # type: ignore[attr-defined]
    make.__annotations__ = get_type_hints(component.__init__) | {"nlp": Language}  # type: ignore[misc]
    make.__doc__ = component.__doc__
    defaults = {
        key: parameter.default
        for key, parameter in signature.parameters.items()
        if parameter.default is not parameter.empty
    }
    Language.factory(
        name,
        default_config=defaults | blocks,
        assigns=list(assigns),
        default_score_weights=dict(score_weights),
        func=make,
    )
    return make
