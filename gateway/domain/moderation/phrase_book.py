"""Knows the lists of a tenant and a scenario as one thing to match with, made once and shared by all streams."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gateway.domain.moderation.automaton import Automaton
from gateway.domain.moderation.folding import EDGE, Foldings
from gateway.domain.moderation.normalise import normalise
from gateway.domain.moderation.phrases import PhraseList, Rule, Spelling, merged, spellings


class Needle(NamedTuple):
    """One form of a rule's phrase."""

    rule: int
    weight: int
    """Its length without edges."""


class Index:
    """Many needles, to be found in one way of reading."""

    def __init__(self, forms: Iterable[tuple[int, str]]) -> None:
        numbered = list(forms)
        self.automaton = Automaton([form for _, form in numbered], edge=EDGE)
        self.needles: Sequence[Needle] = [Needle(rule, len(form) - form.count(EDGE)) for rule, form in numbered]


class PhraseBook:
    """All rules of some lists, with an index for each way in which a text is read."""

    def __init__(self, lists: Iterable[PhraseList], *, foldings: Foldings | None = None) -> None:
        lists, foldings = tuple(lists), foldings or Foldings()
        self.folding = foldings.plain
        self.stand_ins = foldings.stand_ins
        self.toneless = foldings.toneless
        self.rules: Sequence[Rule] = merged(lists, self.folding)
        rules = list(enumerate(self.rules))
        self.plain = Index((number, form) for number, rule in rules for form in spellings(rule.phrase, rule.read))
        self.leet = Index(
            (number, normalise(rule.phrase.text, self.stand_ins).text)
            for number, rule in rules
            if rule.phrase.spelling is Spelling.LEET
        )
        self.pinyin = Index(
            (number, form)
            for number, rule in rules
            if rule.phrase.spelling is Spelling.PINYIN
            for form in spellings(rule.phrase, rule.read)
        )
        read = [normalise(text, self.folding).text for each in lists for text in each.allowed]
        self.allowed = Index(enumerate(filter(None, read)))
