"""Reads a text for matching: what is left without invisible characters, look-alikes, case, accents and noise.

A text that is read has an edge (a space) on both sides of each word of letters and nothing between ideographs, whatever
stood there: `加 我。V-X!` reads `加我 v x `. So a phrase with edges of its own is found in whole words only, and an
ideographic one wherever its characters follow each other. It keeps where in the raw text each symbol came from.
"""

from typing import NamedTuple

from gateway.domain.moderation.folding import EDGE, Folding, Kind, is_voicing, joined


class Symbol(NamedTuple):
    """One character of a text that is read, and the raw characters [start, end) behind it; an edge has none."""

    char: str
    kind: Kind
    start: int
    end: int


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

    @property
    def undecided(self) -> int | None:
        """Where a raw character stands whose reading the next one may change."""
        return None if self._growing is None else self._growing.start

    def take(self, raw: str, at: int) -> list[Symbol]:
        """The symbols that are certain now that one more character is known, which stands at `at`."""
        symbols: list[Symbol] = []
        for char, kind in self._folding[raw]:
            self._read(Symbol(char, kind, at, at + 1), symbols)
        return symbols

    def finish(self, at: int) -> list[Symbol]:
        """The rest, at the end of the text."""
        symbols: list[Symbol] = []
        self._read(Symbol(EDGE, Kind.NOISE, at, at), symbols)
        return symbols

    def _read(self, symbol: Symbol, symbols: list[Symbol]) -> None:
        kind = symbol.kind
        if self._growing is not None and self._grown(self._growing, symbol, symbols):
            return
        if kind is Kind.LETTER:
            self._letter(symbol, symbols)
        elif kind is Kind.INNER and self._after is Kind.LETTER:
            self._inner.append(symbol)
        elif kind is Kind.NOISE or kind is Kind.INNER:
            self._close_word(symbol, symbols)
        elif not is_voicing(symbol.char):
            self._ideograph(symbol, symbols)

    def _grown(self, growing: Symbol, symbol: Symbol, symbols: list[Symbol]) -> bool:
        """Whether the symbol became part of the one before it, which is certain otherwise."""
        whole = joined(growing.char, symbol.char) if symbol.kind is Kind.JOINER else None
        self._growing = None
        if whole is None:
            symbols.append(growing)
            return False
        kind = self._folding[whole][0].kind
        self._ideograph(Symbol(whole, kind, growing.start, symbol.end), symbols)
        return True

    def _letter(self, symbol: Symbol, symbols: list[Symbol]) -> None:
        if self._after is not Kind.LETTER:
            if not self._edged:
                symbols.append(Symbol(EDGE, Kind.NOISE, symbol.start, symbol.start))
            self._after, self._edged = Kind.LETTER, False
        symbols.extend(self._inner)
        self._inner.clear()
        symbols.append(symbol)

    def _ideograph(self, symbol: Symbol, symbols: list[Symbol]) -> None:
        self._close_word(symbol, symbols)
        self._after, self._edged = Kind.IDEOGRAPH, False
        if symbol.kind is Kind.GROWING:
            self._growing = symbol
        else:
            symbols.append(symbol)

    def _close_word(self, symbol: Symbol, symbols: list[Symbol]) -> None:
        if self._after is Kind.LETTER:
            at = self._inner[0].start if self._inner else symbol.start
            self._inner.clear()
            symbols.append(Symbol(EDGE, Kind.NOISE, at, at))
            self._after, self._edged = Kind.NOISE, True


def normalise(text: str, folding: Folding) -> Normalised:
    """The whole text as it is read."""
    normaliser = Normaliser(folding)
    symbols = [symbol for at, raw in enumerate(text) for symbol in normaliser.take(raw, at)]
    symbols += normaliser.finish(len(text))
    return Normalised("".join(s.char for s in symbols), tuple((s.start, s.end) for s in symbols))
