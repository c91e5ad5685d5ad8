"""`spacy-lal.WordCharEmbed.v1`: words by form and characters, with no outside vectors."""

import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from ..layers.char_lstm import CharLSTM
from .vocabulary import WordEmbedding, word_embedding_model, word_form


class WordCharEmbedding(WordEmbedding):
    """Rows of a word table and, beside them, what a CharLSTM makes of the characters.

    which [N], ids [U], characters [U, C], lengths [U] -> [N, word_width + 2 * char_hidden_width].
    The characters of a distinct word are read once. While training, tokens lose the row of their
    word, but not its characters, with probability `word_dropout`.
    """

    architecture = "spacy-lal.WordCharEmbed.v1"

    def __init__(
        self,
        vocabulary: list[list[str]],
        word_width: int,
        char_width: int,
        char_hidden_width: int,
        max_chars: int,
        word_dropout: float,
    ) -> None:
        super().__init__(vocabulary)
        words, characters = vocabulary
        self.words = nn.Embedding(len(words) + 1, word_width)
        nn.init.normal_(self.words.weight, std=0.3)
        self.characters = CharLSTM(len(characters) + 1, char_width, char_hidden_width)
        self.max_chars = max_chars
        self.word_dropout = word_dropout

    @staticmethod
    def values(word: str) -> tuple[tuple[str], str]:
        return (word_form(word),), word

    def encode(self, words: list[str]) -> tuple[Tensor, Tensor, Tensor]:
        """Rows of words [U], rows of their characters [U, C], numbers of these [U]."""
        word_index, character_index = self.index
        ids = torch.tensor([word_index.get(word_form(word), 0) for word in words], dtype=torch.long)
        spelled = [
            torch.tensor([character_index.get(c, 0) for c in self._ends(word)]) for word in words
        ]
        lengths = torch.tensor([len(characters) for characters in spelled], dtype=torch.long)
        if not spelled:
            return ids, ids.view(0, 1), lengths
        return ids, pad_sequence(spelled, batch_first=True), lengths

    def _ends(self, word: str) -> str:
        """A word of more than `max_chars` characters without those in its middle."""
        if len(word) <= self.max_chars:
            return word
        first = self.max_chars // 2
        return word[:first] + word[first - self.max_chars :]

    def forward(self, which: Tensor, ids: Tensor, characters: Tensor, lengths: Tensor) -> Tensor:
        ids = ids[which]
        if self.training and self.word_dropout:
            keep = torch.full(ids.shape, 1 - self.word_dropout, device=ids.device)
            ids = ids * torch.bernoulli(keep).long()
        return torch.cat([self.words(ids), self.characters(characters, lengths)[which]], -1)


def build_word_char_embed_v1(
    word_width: int = 100,
    char_width: int = 50,
    char_hidden_width: int = 50,
    min_count: int = 2,
    word_dropout: float = 0.0,
    max_chars: int = 30,
) -> Model[list[Doc], list[Floats2d]]:
    """Embed words by a table and a CharLSTM, as Zhang et al. 2020 and Floquet et al. (section 3).

    word_width: width of the word table, which ignores case and reads digits as 0. char_width: width
    of the table of characters. char_hidden_width: width of each direction of the CharLSTM.
    min_count: words and characters seen less often in the training data are "unknown".
    word_dropout: probability of an unknown word in training. max_chars: longer words are read
    without their middle.

    The vocabularies are learned like those of `spacy-lal.WordAffixEmbed.v1`, so this embedding also
    needs a component of this package.
    """
    if max_chars < 1:
        raise ValueError(f"max_chars must be at least 1, got {max_chars}")
    settings = {
        "word_width": word_width,
        "char_width": char_width,
        "char_hidden_width": char_hidden_width,
        "max_chars": max_chars,
        "word_dropout": word_dropout,
    }
    return word_embedding_model(
        "word_char_embed",
        WordCharEmbedding,
        settings,
        min_count=min_count,
        width=word_width + 2 * char_hidden_width,
    )
