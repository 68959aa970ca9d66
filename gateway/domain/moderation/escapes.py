r"""Reads on from a backslash as who gets JSON reads it: `\n` and `\t` are white space, `\u4fdd` is a character.

Arguments of tools, and answers of tools and models that are JSON, hold such escapes where people see what they stand
for. It goes on beside the plain reading, from where the first backslash stands.
"""

from collections.abc import Iterable, Sequence
from string import hexdigits

from gateway.domain.moderation.normalise import Normaliser, Symbol
from gateway.domain.moderation.pardons import Pardons
from gateway.domain.moderation.readings import GapWalk, Hit

BACKSLASH = "\\"
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "b": "\b"}
_CODE = "u"
_HALVES = range(0xD800, 0xE000)
"""Of characters that take two escapes: mostly emoji, and read as signs."""
_SIGN = "\ufffd"
_WHOLE_CODE = 6
"""Characters of an escape with a code, backslash included."""


class EscapedReading:
    """`normaliser`, `walk` and `pardons` have read all before the backslash, and are its own."""

    def __init__(self, *, normaliser: Normaliser, walk: GapWalk, pardons: Sequence[Pardons]) -> None:
        self._normaliser = normaliser
        self._walk = walk
        self._pardons = pardons
        self._known: set[Hit] = set()
        """What the plain reading has found since an escape began."""
        self._begun = ""
        """An escape that is not over yet."""
        self._at = 0
        """Where it begins."""

    def take(self, raw: str, at: int, *, known: Sequence[Hit]) -> Sequence[Hit]:
        """What is found beside what the plain reading has, which is never behind."""
        self._known.update(known)
        hits = self._unknown(self._taken(raw, at))
        if not self._begun:
            self._known.clear()
        return hits

    def finish(self, at: int, *, known: Sequence[Hit]) -> Sequence[Hit]:
        self._known.update(known)
        return self._unknown([*self._plainly(), *self._found(self._normaliser.finish(at))])

    def alive(self) -> int | None:
        """Where the first raw character stands that what comes next may make part of a phrase."""
        places = [self._walk.alive(may_resume=self._normaliser.may_resume), self._normaliser.undecided()]
        return min((each for each in [*places, self._at if self._begun else None] if each is not None), default=None)

    def _unknown(self, hits: Iterable[Hit]) -> Sequence[Hit]:
        return [hit for hit in hits if hit not in self._known]

    def _taken(self, raw: str, at: int) -> Sequence[Hit]:
        if not self._begun:
            if raw != BACKSLASH:
                return self._found(self._normaliser.take(raw, at))
            self._begun, self._at = raw, at
            return ()
        begun = self._begun + raw
        if begun[1] in _ESCAPES:
            return self._read(_ESCAPES[begun[1]], at)
        if begun[1] != _CODE or (len(begun) > 2 and raw not in hexdigits):  # noqa: PLR2004  the figures come third
            return self._given_up(raw, at)
        if len(begun) == _WHOLE_CODE:
            code = int(begun[2:], 16)
            return self._read(_SIGN if code in _HALVES else chr(code), at)
        self._begun = begun
        return ()

    def _read(self, char: str, at: int) -> Sequence[Hit]:
        """What the escape stands for, in all the places that it takes up."""
        self._begun = ""
        return self._found(self._normaliser.take(char, self._at, at + 1))

    def _given_up(self, raw: str, at: int) -> Sequence[Hit]:
        """It is none; what comes now may begin another, but not behind a backslash that stands for itself."""
        is_itself = self._begun == BACKSLASH == raw
        hits = list(self._plainly())
        if is_itself:
            return [*hits, *self._found(self._normaliser.take(raw, at))]
        return [*hits, *self._taken(raw, at)]

    def _plainly(self) -> Sequence[Hit]:
        begun, self._begun = self._begun, ""
        return [hit for at, raw in enumerate(begun, self._at) for hit in self._found(self._normaliser.take(raw, at))]

    def _found(self, symbols: Iterable[Symbol]) -> Sequence[Hit]:
        hits: list[Hit] = []
        for symbol in symbols:
            for each in self._pardons:
                each.read(symbol)
            hits += self._walk.read(symbol)
        return hits
