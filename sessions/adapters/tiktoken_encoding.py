"""Counts plain text with tiktoken, by the ranks of the served model."""

from collections.abc import Callable, Collection
from unicodedata import category, normalize

from tiktoken import Encoding

from sessions.adapters.tokenizer_file import ByteBpe

_LONGEST = 100_000
"""Characters; regular expressions recurse, and what is longer is no message of anybody's."""


class TiktokenEncoding:
    """`otherwise` counts the few texts that are not sure to be read alike.

    These are texts with characters that Unicode got after this Python was made, since each library knows another
    version of Unicode, and texts with bytes that the model has no token for.
    """

    def __init__(self, bpe: ByteBpe, *, otherwise: Callable[[str], int]) -> None:
        self._form = bpe.form
        self._otherwise = otherwise
        self._bytes = frozenset(token[0] for token in bpe.ranks if len(token) == 1)
        ranks = dict(bpe.ranks) | {
            bytes([byte]): len(bpe.ranks) + byte for byte in range(256) if byte not in self._bytes
        }
        self.encoding = Encoding("the served model", pat_str=bpe.pattern, mergeable_ranks=ranks, special_tokens={})
        self._familiar: set[str] = set()

    def count(self, text: str) -> int:
        """Tokens of a text that holds no added token."""
        if len(text) > _LONGEST or not self._is_familiar(set(text)):
            return self._otherwise(text)
        if self._form is not None and not text.isascii():
            text = normalize(self._form, text)
            if not self._is_familiar(set(text)):
                return self._otherwise(text)
        return len(self.encoding.encode_ordinary(text))

    def _is_familiar(self, characters: Collection[str]) -> bool:
        new = set(characters) - self._familiar
        if all(self._is_sure(character) for character in new):
            self._familiar |= new
            return True
        return False

    def _is_sure(self, character: str) -> bool:
        return category(character) not in ("Cn", "Cs") and self._bytes.issuperset(character.encode())
