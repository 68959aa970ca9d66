"""Finds the phrases of a book in a text that comes in characters, and knows from where on it cannot tell yet."""

from collections.abc import Iterable, Sequence

from gateway.domain.moderation.escapes import BACKSLASH, EscapedReading
from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.held_text import HeldText
from gateway.domain.moderation.normalise import Normaliser, Symbol, normalise
from gateway.domain.moderation.pardons import Pardons
from gateway.domain.moderation.phrase_book import Index, PhraseBook
from gateway.domain.moderation.phrases import spellings
from gateway.domain.moderation.readings import GapWalk, Hit

_NOTHING = ()


class Rereading:
    """The text read in another way: figures and signs as letters, or figures as nothing.

    Finds only what has some figures or signs, and some letters: the rest is plain.
    """

    def __init__(self, book: PhraseBook, text: HeldText, *, folding: Folding, index: Index) -> None:
        self._book = book
        self._text = text
        self._normaliser = Normaliser(folding)
        self._walk = GapWalk(index)

    def take(self, raw: str, at: int) -> Sequence[Hit]:
        return self._found(self._normaliser.take(raw, at))

    def finish(self, at: int) -> Sequence[Hit]:
        return self._found(self._normaliser.finish(at))

    def alive(self) -> int | None:
        return self._walk.alive(may_resume=self._normaliser.may_resume)

    def _found(self, symbols: Iterable[Symbol]) -> Sequence[Hit]:
        hits: list[Hit] = []
        for symbol in symbols:
            hits += self._walk.read(symbol)
        return [hit for hit in hits if self._is_meant(hit)] if hits else hits

    def _is_meant(self, hit: Hit) -> bool:
        raw, folding = self._text.between(hit.start, hit.end), self._book.folding
        has_letters = any(glyph.char.isalpha() for char in raw for glyph in folding[char])
        rule = self._book.rules[hit.rule]
        return has_letters and normalise(raw, folding).text not in spellings(rule.phrase, rule.read)


class Matcher:
    """One text. `take` gives what is found for certain with one more character, however the text is cut."""

    def __init__(self, book: PhraseBook, text: HeldText) -> None:
        self._normaliser = Normaliser(book.folding)
        self._plain = GapWalk(book.plain)
        # What no rule asks for costs nothing.
        ways = ((book.stand_ins, book.leet), (book.toneless, book.pinyin))
        self._rereadings = [
            Rereading(book, text, folding=folding, index=index) for folding, index in ways if index.needles
        ]
        self._escaped: EscapedReading | None = None
        self._pardons = [Pardons(book)] if book.allowed.needles else []
        """Of the plain reading, and of that with escapes."""

    def take(self, raw: str, at: int) -> Sequence[Hit]:
        """What ends with this character, which stands at `at`, or is certain only now."""
        if raw == BACKSLASH and self._escaped is None:
            self._escaped = self._forked()
        symbols = self._normaliser.take(raw, at)
        hits = self._found(symbols) if symbols else _NOTHING
        if self._escaped is not None:
            hits = [*hits, *self._escaped.take(raw, at, known=hits)]
        if not self._rereadings:
            return hits
        return _once([*hits, *(hit for each in self._rereadings for hit in each.take(raw, at))])

    def finish(self, at: int) -> Sequence[Hit]:
        """What is certain because the text is over."""
        hits = self._found(self._normaliser.finish(at))
        if self._escaped is not None:
            hits = [*hits, *self._escaped.finish(at, known=hits)]
        return _once([*hits, *(hit for each in self._rereadings for hit in each.finish(at))])

    def undecided(self) -> int | None:
        """Where the first raw character stands that what comes next may make part of a phrase."""
        normaliser = self._normaliser
        place = _first(normaliser.undecided(), self._plain.alive(may_resume=normaliser.may_resume))
        if self._escaped is not None:
            place = _first(place, self._escaped.alive())
        for each in self._rereadings:
            place = _first(place, each.alive())
        return place

    def is_pardoned(self, hit: Hit) -> bool:
        return any(each.cover(hit) for each in self._pardons)

    def may_be_pardoned(self, hit: Hit) -> bool:
        return any(each.may_cover(hit) for each in self._pardons)

    def forget(self, before: int) -> None:
        """Nothing before this place is asked for again."""
        for each in self._pardons:
            each.forget(before)

    def _forked(self) -> EscapedReading:
        pardons = [each.fork() for each in self._pardons]
        self._pardons += pardons
        return EscapedReading(normaliser=self._normaliser.fork(), walk=self._plain.fork(), pardons=pardons)

    def _found(self, symbols: Sequence[Symbol]) -> Sequence[Hit]:
        if self._pardons:
            for symbol in symbols:
                self._pardons[0].read(symbol)
        if len(symbols) == 1:
            return self._plain.read(symbols[0])
        return [hit for symbol in symbols for hit in self._plain.read(symbol)]


def _once(hits: list[Hit]) -> Sequence[Hit]:
    """What is found in two ways of reading is one."""
    return list(dict.fromkeys(hits)) if len(hits) > 1 else hits


def _first(one: int | None, other: int | None) -> int | None:
    """The earlier place of two that may be none."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
