"""Scores how likely a text wants to steer the model instead of talking to it.

In a drill people say "pretend", "ignore the last offer" and "you are now talking to my manager" all day. So a signal is
an order in a sentence, not a word; an order about quotes, devices or people is no signal; and what comes of a score is
decided by thresholds that the caller gives.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from math import prod

from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.injection_concepts import REVERSED, ROTATED
from gateway.domain.moderation.injection_encoded import Decoded, decoded
from gateway.domain.moderation.injection_marks import Lexicon, Mark
from gateway.domain.moderation.injection_reading import Read
from gateway.domain.moderation.injection_rules import RuleBook, SignalKind
from gateway.domain.moderation.injection_shapes import shape_hits
from gateway.domain.moderation.likeness import Likeness

_REJOINED_WEIGHT = 0.3
_DISGUISED_WEIGHT = 0.3
_ENCODED_WEIGHT = 0.45
_LIKENESS_WEIGHT = 0.4
"""Asked only where all else comes to less, so that with it a score stays below 0.64: it names no reason to block."""
_ENOUGH_DISGUISED = 2
_HIDDEN_ABOVE = 0.2
"""What a hidden passage must score by itself; a hidden greeting is no signal."""
_ROT13 = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "nopqrstuvwxyzabcdefghijklmNOPQRSTUVWXYZABCDEFGHIJKLM"
)


class Surface(StrEnum):
    """Who wrote a text: somebody who talks to the model, or an author who has no business with it."""

    USER = "user"
    KNOWLEDGE = "knowledge"


class InjectionVerdict(StrEnum):
    ALLOW = "allow"
    FLAG = "flag"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which score on a text is flagged, and from which it is blocked."""

    flag: float = 0.35
    block: float = 0.7


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason; the span is its place in the raw text."""

    name: str
    kind: SignalKind
    weight: float
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Score:
    value: float
    """From 0, nothing speaks for an injection, towards 1: each signal takes its share of what is left."""
    signals: tuple[Signal, ...]


def verdict_on(score: Score, thresholds: Thresholds) -> InjectionVerdict:
    if score.value >= thresholds.block:
        return InjectionVerdict.BLOCK
    return InjectionVerdict.FLAG if score.value >= thresholds.flag else InjectionVerdict.ALLOW


class InjectionScorer:
    """Made once, it never changes."""

    def __init__(self) -> None:
        self._lexicon = Lexicon(Folding())
        self._likeness = Likeness()
        self._books = {surface: RuleBook(in_knowledge=surface is Surface.KNOWLEDGE) for surface in Surface}

    def score(self, text: str, surface: Surface = Surface.USER) -> Score:
        """How likely it is an injection, and why."""
        book = self._books[surface]
        reading = self._lexicon.read(text)
        marks = self._lexicon.marks(reading.text)
        shown = _in_raw(reading, self._signals(reading, marks.found, book))
        if shown and reading.is_rejoined:
            shown.append(Signal("written_apart", SignalKind.ENCODED, _REJOINED_WEIGHT, shown[0].span))
        if shown and marks.disguised >= _ENOUGH_DISGUISED:
            shown.append(Signal("figures_for_letters", SignalKind.ENCODED, _DISGUISED_WEIGHT, shown[0].span))
        signals = (*shown, *self._hidden(text, marks.found, book))
        is_talk = surface is Surface.USER and _value(signals) < _LIKENESS_WEIGHT
        if is_talk and self._likeness.is_like_injections(reading.text):
            signals += (Signal("like_injections", SignalKind.LIKENESS, _LIKENESS_WEIGHT, (0, len(text))),)
        return Score(_value(signals), signals)

    def _signals(self, reading: Read, marks: list[Mark], book: RuleBook) -> list[Signal]:
        by_words = (
            Signal(h.rule.name, h.rule.kind, h.weight, (h.start, h.end)) for h in book.hits(reading.text, marks)
        )
        by_form = (
            Signal(h.shape.name, h.shape.kind, h.shape.weight, (h.start, h.end)) for h in shape_hits(reading.text)
        )
        return [*by_words, *by_form]

    def _hidden(self, text: str, marks: list[Mark], book: RuleBook) -> Iterator[Signal]:
        """The signals of what the text hides, all at the place of the code, and one for hiding it."""
        for passage in chain(decoded(text), _rewritten(text, marks)):
            reading = self._lexicon.read(passage.text)
            signals = self._signals(reading, self._lexicon.marks(reading.text).found, book)
            if _value(signals) >= _HIDDEN_ABOVE:
                span = (passage.start, passage.end)
                yield Signal("hidden_passage", SignalKind.ENCODED, _ENCODED_WEIGHT, span)
                yield from (Signal(each.name, each.kind, each.weight, span) for each in signals)


def _rewritten(text: str, marks: list[Mark]) -> Iterator[Decoded]:
    """The text backwards or rotated, if words were seen in it that make sense only so."""
    if any(mark.bits & REVERSED for mark in marks):
        yield Decoded(text[::-1], 0, len(text))
    if any(mark.bits & ROTATED for mark in marks):
        yield Decoded(text.translate(_ROT13), 0, len(text))


def _in_raw(reading: Read, signals: list[Signal]) -> list[Signal]:
    if not signals:
        return []
    spans = reading.spans([signal.span for signal in signals])
    return [Signal(each.name, each.kind, each.weight, span) for each, span in zip(signals, spans, strict=True)]


def _value(signals: list[Signal] | tuple[Signal, ...]) -> float:
    return 1 - prod(1 - signal.weight for signal in signals)
