"""Reads a text for the search of injections, as a person would, and knows each place in the raw text.

Unlike what is read for phrases, punctuation stays, since a sentence's end parts an order from what it is about. Letters
and ideographs that were written apart are put together again.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from gateway.domain.moderation.folding import EDGE, Folding

Span = tuple[int, int]

_HAN = "[\u3400-\u9fff]"
_LETTERS_APART = re.compile(r"[a-z](?<![a-z0-9][a-z])(?:[ .\-_*|/·]{1,4}[a-z]){3,}(?![a-z0-9])")
_HAN_APART = re.compile(rf"{_HAN}(?:(?:[^\w\n]|_){{1,3}}{_HAN}(?!{_HAN})){{3,}}")
_BETWEEN_LETTERS = re.compile(r"[ .\-_*|/·]{1,4}")
_BETWEEN_HAN = re.compile(r"(?:[^\w\n]|_){1,3}")
_MOST_KEPT = 20_000
_NOT_PLAIN = re.compile(r"[^\t\n\r -~]")


class Readings(dict[int, str]):
    """How each character is read, for `str.translate`; what was looked up once is kept."""

    def __init__(self, folding: Folding) -> None:
        super().__init__()
        self._folding = folding

    def __missing__(self, code: int) -> str:
        if len(self) >= _MOST_KEPT:
            self.clear()
        raw = chr(code)
        read = "".join(glyph.char for glyph in self._folding[raw])
        text = self[code] = _PUNCTUATION.get(raw, raw.lower()) if read == EDGE else read
        return text


_PUNCTUATION = {full: chr(ord(full) - 0xFEE0) for full in map(chr, range(0xFF01, 0xFF5F))} | {
    "’": "'",
    "‘": "'",
    "\u3000": " ",
}


class Read(NamedTuple):
    """A text as it is read, with what finds the raw place of any of its parts."""

    text: str
    raw: str
    readings: Readings
    kept: tuple[int, ...] | None
    """Where each character stood before those written apart were put together; None: none were."""

    @property
    def is_rejoined(self) -> bool:
        return self.kept is not None

    def spans(self, places: list[Span]) -> list[Span]:
        """The raw places of parts of the text; the whole text is walked through, so ask for all at once."""
        ends = [0, *accumulate(len(self.readings[ord(char)]) for char in self.raw)]
        return [self._span(start, end, ends) for start, end in places]

    def _span(self, start: int, end: int, ends: list[int]) -> Span:
        first, last = (start, end - 1) if self.kept is None else (self.kept[start], self.kept[end - 1])
        return bisect_right(ends, first) - 1, bisect_right(ends, last)


def read(raw: str, readings: Readings) -> Read:
    text = raw.translate(readings) if _NOT_PLAIN.search(raw) else raw.lower()
    gaps = sorted(_gaps(text))
    if not gaps:
        return Read(text, raw, readings, None)
    edges = [0, *(edge for gap in gaps for edge in gap), len(text)]
    kept = tuple(at for start, end in list(pairwise(edges))[::2] for at in range(start, end))
    return Read("".join(text[at] for at in kept), raw, readings, kept)


def _gaps(text: str) -> Iterator[Span]:
    """What stands between characters that belong together; what parts the words of letters written apart stays.

    That is what is wider than the rest, or blank where most gaps are signs.
    """
    for run in _LETTERS_APART.finditer(text):
        gaps = [gap.span() for gap in _BETWEEN_LETTERS.finditer(text, *run.span())]
        narrowest = min(end - start for start, end in gaps)
        narrow = [gap for gap in gaps if gap[1] - gap[0] == narrowest]
        signs = [gap for gap in narrow if text[slice(*gap)].strip()]
        yield from signs if 2 * len(signs) > len(narrow) else narrow
    if not text.isascii():
        for run in _HAN_APART.finditer(text):
            yield from (gap.span() for gap in _BETWEEN_HAN.finditer(text, *run.span()))
