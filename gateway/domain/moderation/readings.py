"""Knows two ways to walk along a text that is read: as it stands, and over gaps that a person reads over.

Both find what ends at a symbol, and tell where the longest beginning of something stands that is not over yet.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from copy import copy
from typing import NamedTuple, Self

from typing_extensions import override

from gateway.domain.moderation.folding import Kind
from gateway.domain.moderation.normalise import Symbol
from gateway.domain.moderation.phrase_book import Index

_START = 0
_NOISE, _LETTER, _RESUMED = Kind.NOISE, Kind.LETTER, Kind.RESUMED
"""Members of an enumeration take long to look up, and these are compared with for each character that passes."""
_NOTHING = ()
_MOST_OTHERS = 64
"""How many other ways to read are gone at once, those that reach back the furthest. Real lists have two or three; this
bounds the time that a list can cost whose phrases differ in nothing but their spaces."""


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
        self._step = index.automaton.step
        self._ends = index.automaton.ends
        self._needles = index.needles
        self._state = _START
        self._starts: deque[int] = deque(maxlen=max(1, index.automaton.longest))
        """Where the last symbols stand, edges aside."""

    def fork(self) -> Self:
        """Another one that has walked the same way."""
        other = copy(self)
        other._starts = self._starts.copy()  # noqa: SLF001  it is one of these
        return other

    def read(self, symbol: Symbol) -> Sequence[Hit]:
        """All that ends here."""
        char, kind, start, end = symbol
        if kind is not _NOISE:
            self._starts.append(start)
        state = self._state = self._step(self._state, char)
        return list(self._ending(state, end)) if self._ends[state] else _NOTHING

    def alive(self) -> int | None:
        """Where the longest beginning of a needle starts."""
        return self._start_of(self._automaton.unfinished[self._state])

    def _ending(self, state: int, end: int, beyond: int = 0) -> Iterator[Hit]:
        """The needles that end in a state, if they are longer than so many symbols."""
        for number in self._automaton.ending(state):
            rule, weight = self._needles[number]
            if weight > beyond:
                yield Hit(self._starts[-weight], end, rule, weight)

    def _start_of(self, length: int) -> int | None:
        return self._starts[-length] if length else None


class _Other(NamedTuple):
    """A way to read on from a gap as if it were not there."""

    state: int
    joined_at: int
    """How many symbols stood before its last gap; what does not reach back behind that is found without it."""
    is_certain: bool
    """Whether its last gap may be read over, whatever comes."""


class GapWalk(Walk):
    """Besides, words put together where something stands between their letters that is no end of a word.

    That is a sign without white space (`se-cret`, `s**e**cret`), but not between figures; and anything at all between
    words of a single letter (`s e c r e t`). Whether a word is of a single letter is known when it ends. Each gap may
    be nothing or an edge, in any mixture, and there are as many other ways to read as can still become a needle: mostly
    none.
    """

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._count = 0
        self._last = ""
        self._word = 0
        """How many letters the present word has; two: or more."""
        self._others: list[_Other] = []
        self._left: Sequence[_Other] = _NOTHING
        """All ways to read, as they were before the edge that ended the last word; none where nothing can go on."""
        self._was_single = False

    @override
    def fork(self) -> Self:
        other = super().fork()
        other._others = self._others.copy()  # noqa: SLF001  it is one of these
        return other

    @override
    def read(self, symbol: Symbol) -> Sequence[Hit]:
        char, kind, start, end = symbol
        if kind is _NOISE:
            return self._edge(symbol)
        self._count += 1
        self._starts.append(start)
        state = self._state = self._step(self._state, char)
        hits = list(self._ending(state, end)) if self._ends[state] else _NOTHING
        if kind is _LETTER or kind is _RESUMED or kind is Kind.INNER:
            if self._word < 2:  # noqa: PLR2004  from the second letter on a word is not a single one
                return self._first_letters(symbol, hits)
            self._last = char
        elif self._left:
            self._left = _NOTHING
        return self._with_others(symbol, hits) if self._others else hits

    @override
    def alive(self, *, may_resume: bool = False) -> int | None:
        """`may_resume`: since the last word there is only what may stand within one."""
        unfinished = self._automaton.unfinished
        length = unfinished[self._state]
        if self._others:
            length = max(length, *(unfinished[each.state] for each in self._others))
        if self._left and (may_resume or self._was_single):
            length = max(length, *(self._automaton.open_word[each.state] for each in self._left))
        return self._start_of(length)

    def _edge(self, symbol: Symbol) -> Sequence[Hit]:
        if self._word:
            if self._others:
                self._others = [each._replace(is_certain=True) for each in self._others]
            if self._others or self._automaton.open_word[self._state]:
                self._left = (_Other(self._state, self._count, is_certain=True), *self._others)
            self._was_single = self._word == 1
            self._word = 0
        hits = super().read(symbol)
        return self._with_others(symbol, hits) if self._others else hits

    def _first_letters(self, symbol: Symbol, hits: Sequence[Hit]) -> Sequence[Hit]:
        char, kind, _, _ = symbol
        if self._others:
            if self._word:
                self._others = [each for each in self._others if each.is_certain]
            hits = self._with_others(symbol, hits)
        if self._left:
            self._join(char, resumes=kind is _RESUMED and not (char.isdigit() and self._last.isdigit()))
        self._word += 1
        self._last = char
        return hits

    def _join(self, char: str, *, resumes: bool) -> None:
        """Go on from before the last edge, if it may be nothing."""
        if resumes or self._was_single:
            states = {self._step(each.state, char) for each in self._left}
            joined = [_Other(state, self._count - 1, is_certain=resumes) for state in states]
            self._others += [each for each in joined if self._is_alive(each)]
            if len(self._others) > _MOST_OTHERS:
                self._others = sorted(self._others, key=self._reach, reverse=True)[:_MOST_OTHERS]
        self._left = _NOTHING

    def _with_others(self, symbol: Symbol, hits: Sequence[Hit]) -> Sequence[Hit]:
        char, _, _, end = symbol
        stepped = [each._replace(state=self._step(each.state, char)) for each in self._others]
        self._others = [each for each in stepped if self._is_alive(each)]
        ended = [each for each in stepped if self._ends[each.state]]
        if not ended:
            return hits
        found = (hit for each in ended for hit in self._ending(each.state, end, self._count - each.joined_at))
        return list(dict.fromkeys([*hits, *found]))

    def _is_alive(self, other: _Other) -> bool:
        return self._automaton.unfinished[other.state] > self._count - other.joined_at

    def _reach(self, other: _Other) -> tuple[int, int]:
        return self._automaton.unfinished[other.state], other.state
