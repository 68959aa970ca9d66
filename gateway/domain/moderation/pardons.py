"""Knows where allowed phrases stand in a text that is read, and so which banned ones are right."""

from copy import copy
from typing import Self

from gateway.domain.moderation.normalise import Symbol
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.readings import Hit, Walk


class Pardons:
    """Allowed phrases: within a longer one of them a banned phrase is right."""

    def __init__(self, book: PhraseBook) -> None:
        self._walk = Walk(book.allowed)
        self._found: list[Hit] = []

    def fork(self) -> Self:
        """Another one that has read the same."""
        other = copy(self)
        other._walk, other._found = self._walk.fork(), self._found.copy()  # noqa: SLF001  it is one of these
        return other

    def read(self, symbol: Symbol) -> None:
        self._found += self._walk.read(symbol)

    def cover(self, hit: Hit) -> bool:
        return any(p.start <= hit.start and hit.end <= p.end and p.weight > hit.weight for p in self._found)

    def may_cover(self, hit: Hit) -> bool:
        """Whether an allowed phrase that began no later is not over yet."""
        alive = self._walk.alive()
        return alive is not None and alive <= hit.start

    def forget(self, before: int) -> None:
        """Nothing that is found from now on begins before this place."""
        self._found = [pardon for pardon in self._found if pardon.end > before]
