"""The ways in which a Doc travels; each gives back another Doc."""

import pickle

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab


def to_bytes(doc):
    return Doc(Vocab()).from_bytes(doc.to_bytes())


def doc_bin(doc):
    data = DocBin(docs=[doc], store_user_data=False).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(Vocab()))


def pickled(doc):
    return pickle.loads(pickle.dumps(doc))


CARRIERS = [to_bytes, doc_bin, pickled, Doc.copy]
