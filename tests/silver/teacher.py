"""A tiny pipeline that finds tags, trees, heads and roles."""

from __future__ import annotations

import pickle

from spacy.language import Language

from tests.pipeline.toy import headed_examples, joint_pipeline, train_on
from tests.pipeline.toy_frames import srl_pipeline, trained
from tests.stored import stored


def toy_teacher(steps: int) -> Language:
    def make() -> Language:
        nlp = joint_pipeline()
        train_on(nlp, headed_examples(nlp), steps)
        nlp.add_pipe("lisa_srl", source=trained(srl_pipeline(), steps))
        return nlp

    nlp: Language = pickle.loads(stored(f"teacher {steps}", make))
    return nlp
