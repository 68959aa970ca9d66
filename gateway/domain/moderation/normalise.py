"""Reads a text for matching: what is left without invisible characters, look-alikes, case, accents and noise.

A text that is read has an edge (a space) on both sides of each word of letters and nothing between ideographs, whatever
stood there: `加 我。V-X!` reads `加我 v x `. So a phrase with edges of its own is found in whole words only, and an
ideographic one wherever its characters follow each other. It keeps where in the raw text each symbol came from.
"""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple, Self, TypeAlias

from gateway.domain.moderation.folding import EDGE, Folding, Kind, is_voicing, joined

Symbol: TypeAlias = tuple[str, Kind, int, int]
"""One character of a text that is read, its kind, and the raw characters from .. to behind it; an edge has none.

A plain tuple, since one is made for each character that passes, and one with names takes ten times as long to make.
"""


_NOISE, _JOINT = Kind.NOISE, Kind.JOINT
"""Members of an enumeration take long to look up, and these are compared with for each character that passes."""


class Normalised(NamedTuple):
    """A text that was read, with the raw place of each of its characters."""

    text: str
    spans: tuple[tuple[int, int], ...]


class Normaliser:
    """Takes a text character by character; however it is cut, the same symbols come out."""

    def __init__(self, folding: Folding) -> None:
        self._folding = folding
        self._after = Kind.NOISE
        self._edged = False
        self._growing: Symbol | None = None
        self._inner: list[Symbol] = []

    def fork(self) -> Self:
        """Another one that has read the same."""
        other = copy(self)
        other._inner = self._inner.copy()  # noqa: SLF001  it is one of these
        return other

    def undecided(self) -> int | None:
        """Where a raw character stands whose reading the next one may change."""
        return None if self._growing is None else self._growing[2]

    @property
    def may_resume(self) -> bool:
        """Whether there were only joints since the last word."""
        return self._after is Kind.JOINT

    def take(self, raw: str, at: int, end: int | None = None) -> Sequence[Symbol]:
        """The symbols that are certain now that one more character is known, which stands at `at`, and takes up all
        places before `end` if it is written in several.
        """
        glyphs, end = self._folding[raw], end or at + 1
        if len(glyphs) == 1 and glyphs[0][1] is self._after and self._growing is None and not self._inner:
            # What most characters are: one more of the same word, or of what is between words.
            char, kind = glyphs[0]
            return () if kind is _NOISE or kind is _JOINT else ((char, kind, at, end),)
        symbols: list[Symbol] = []
        for number, (char, kind) in enumerate(glyphs):
            # A sign that is part of a character, as in ⒜, ends a word behind the whole of it.
            behind = number and (kind is Kind.NOISE or kind is Kind.JOINT)
            self._read((char, kind, end if behind else at, end), symbols)
        return symbols

    def finish(self, at: int) -> Sequence[Symbol]:
        """The rest, at the end of the text."""
        symbols: list[Symbol] = []
        self._read((EDGE, Kind.NOISE, at, at), symbols)
        return symbols

    def _read(self, symbol: Symbol, symbols: list[Symbol]) -> None:
        char, kind, start, _ = symbol
        if self._growing is not None and self._grown(self._growing, symbol, symbols):
            return
        if kind is Kind.LETTER:
            self._letter(symbol, symbols)
        elif kind is Kind.INNER and self._after is Kind.LETTER:
            self._inner.append(symbol)
        elif kind is Kind.NOISE or kind is Kind.JOINT or kind is Kind.INNER:
            self._close_word(start, symbols, kind)
        elif kind is Kind.FLAG:
            self._flag(symbol, symbols)
        elif not is_voicing(char):
            self._ideograph(symbol, symbols)

    def _grown(self, growing: Symbol, symbol: Symbol, symbols: list[Symbol]) -> bool:
        """Whether the symbol became part of the one before it, which is certain otherwise."""
        whole = joined(growing[0], symbol[0]) if symbol[1] is Kind.JOINER else None
        self._growing = None
        if whole is None:
            symbols.append(growing)
            return False
        self._ideograph((whole, self._folding[whole][0].kind, growing[2], symbol[3]), symbols)
        return True

    def _letter(self, symbol: Symbol, symbols: list[Symbol]) -> None:
        if self._after is not Kind.LETTER:
            if not self._edged:
                symbols.append((EDGE, Kind.NOISE, symbol[2], symbol[2]))
            if self._after is Kind.JOINT:
                symbol = (symbol[0], Kind.RESUMED, symbol[2], symbol[3])
            self._after, self._edged = Kind.LETTER, False
        symbols.extend(self._inner)
        self._inner.clear()
        symbols.append(symbol)

    def _flag(self, symbol: Symbol, symbols: list[Symbol]) -> None:
        if self._after is Kind.IDEOGRAPH:
            return
        char, _, start, end = symbol
        self._close_word(start, symbols, Kind.JOINT)
        self._letter((char, Kind.LETTER, start, end), symbols)
        self._close_word(end, symbols, Kind.JOINT)

    def _ideograph(self, symbol: Symbol, symbols: list[Symbol]) -> None:
        self._close_word(symbol[2], symbols, Kind.NOISE)
        self._after, self._edged = Kind.IDEOGRAPH, False
        if symbol[1] is Kind.GROWING:
            self._growing = symbol
        else:
            symbols.append(symbol)

    def _close_word(self, at: int, symbols: list[Symbol], kind: Kind) -> None:
        if self._after is Kind.LETTER:
            place = self._inner[0][2] if self._inner else at
            self._inner.clear()
            symbols.append((EDGE, Kind.NOISE, place, place))
            self._after, self._edged = (Kind.NOISE if kind is Kind.NOISE else Kind.JOINT), True
        elif self._after is Kind.JOINT and kind is Kind.NOISE:
            self._after = Kind.NOISE


def normalise(text: str, folding: Folding) -> Normalised:
    """The whole text as it is read."""
    normaliser = Normaliser(folding)
    symbols: list[Symbol] = []
    for at, raw in enumerate(text):
        symbols += normaliser.take(raw, at)
    symbols += normaliser.finish(len(text))
    return Normalised("".join([symbol[0] for symbol in symbols]), tuple([symbol[2:] for symbol in symbols]))
