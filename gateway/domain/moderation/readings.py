"""Knows two ways to walk along a text that is read: as it stands, and by the words spelt out in single letters.

Both find what ends at a symbol, and tell where the longest beginning of something stands that is not over yet.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from gateway.domain.moderation.folding import Kind
from gateway.domain.moderation.normalise import Symbol
from gateway.domain.moderation.phrase_book import Index

_EDGE = -1
_START = 0
_NOTHING = ()


class Hit(NamedTuple):
    """A needle that was found, in the raw characters [start, end)."""

    start: int
    end: int
    rule: int
    weight: int


class Walk:
    """The text as it stands."""

    def __init__(self, index: Index) -> None:
        self._automaton = index.automaton
        self._ends = index.automaton.ends
        self._needles = index.needles
        self._state = _START
        self._starts: deque[int] = deque(maxlen=max(1, index.automaton.longest))

    def read(self, symbol: Symbol) -> Sequence[Hit]:
        """All that ends here."""
        char, kind, start, end = symbol
        self._starts.append(_EDGE if kind is Kind.NOISE else start)
        state = self._state = self._automaton.step(self._state, char)
        if not self._ends[state]:
            return _NOTHING
        found = (self._needles[number] for number in self._automaton.ending(state))
        return [Hit(self._start(n.length - n.edged), end, n.rule, n.weight) for n in found]

    def alive(self) -> int | None:
        """Where the longest beginning of a needle starts."""
        length = self._automaton.unfinished(self._state)
        if length == 0:
            return None
        if self._starts[-length] != _EDGE:
            return self._starts[-length]
        return self._start(length - 1) if length > 1 else None

    def alive_with(self, symbol: Symbol) -> int | None:
        """The same, should this symbol come next; a needle that would be over with it counts too."""
        state = self._automaton.step(self._state, symbol[0])
        over = (self._needles[number].length for number in self._automaton.ending(state))
        length = max(self._automaton.unfinished(state), next(over, 0))
        if length == 0:
            return None
        return symbol[2] if length == 1 else self._start(length - 1)

    def forget(self) -> None:
        """Nothing goes on from here."""
        self._state = _START

    def _start(self, length: int) -> int:
        return self._starts[-length]


class SpeltOut:
    """Words in single letters, `s p a m`, and ideographs between them; a longer word breaks them off.

    Whether a letter is single is known when its word ends, and only then does it count.
    """

    def __init__(self, index: Index) -> None:
        self._walk = Walk(index)
        self._in_word = False
        self._letter: Symbol | None = None
        """The only one so far of the word that it stands in."""

    def read(self, symbol: Symbol) -> Sequence[Hit]:
        _, kind, _, end = symbol
        if kind is Kind.LETTER:
            self._more_of_word(symbol)
            return _NOTHING
        self._in_word = False
        if kind is not Kind.NOISE:
            return self._walk.read(symbol)
        if self._letter is None:
            return _NOTHING
        char, kind, start, _ = self._letter
        self._letter = None
        return self._walk.read((char, kind, start, end))

    def _more_of_word(self, symbol: Symbol) -> None:
        if not self._in_word:
            self._in_word, self._letter = True, symbol
        elif self._letter is not None:
            self._letter = None
            self._walk.forget()

    def alive(self) -> int | None:
        return self._walk.alive() if self._letter is None else self._walk.alive_with(self._letter)
