"""Tokens that came at once, and where among them the text that came with them ends.

The last of them may be the beginning of a character that had not come yet; only who knows the model's vocabulary can
say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

_MOST_CANDIDATES = 8
"""A character is cut into four tokens at most, but the last of these may begin another one."""


@dataclass(frozen=True, slots=True)
class Doubt:
    ids: Sequence[int]
    """Of the answer, up to those."""
    text: str
    """Of the answer, all of it."""
    at_once: int

    @property
    def candidates(self) -> Sequence[int]:
        """How many of the tokens may be those of the text, the likeliest first."""
        last = len(self.ids)
        return range(last, last - min(self.at_once, _MOST_CANDIDATES), -1)

    def is_settled_by(self, said: str) -> bool:
        """Whether tokens that say this end with the text. Reasoning may stand before it, and some vocabularies leave
        out a space at the beginning.
        """
        text = self.text.lstrip()
        return text != "" and said.endswith(text)
