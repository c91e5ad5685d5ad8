"""The library `tokenizers`, which comes with the extra `encoders`."""

try:
    from tokenizers import Encoding, Tokenizer
except ImportError as error:
    raise ImportError(
        "pretrained encoders need tokenizers: pip install 'spacy-lal[encoders]'"
    ) from error

__all__ = ["Encoding", "Tokenizer"]
