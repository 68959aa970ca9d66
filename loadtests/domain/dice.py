"""Chance that is the same again: a stream of choices that follows from a seed and a text alone."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Two dice with the same seed and text throw the same, in every process."""

    def __init__(self, seed: int, text: str) -> None:
        self._key = f"{seed}\n{text}".encode("utf-8", "replace")
        self._thrown = 0

    def below(self, bound: int) -> int:
        """A number from 0 on, below `bound`."""
        self._thrown += 1
        digest = blake2b(self._key, digest_size=8, salt=self._thrown.to_bytes(8, "big"))
        return int.from_bytes(digest.digest(), "big") % bound

    def between(self, least: int, most: int) -> int:
        return least + self.below(most - least + 1)

    def one_of(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]
