"""Knows the lists of a tenant and a scenario as one thing to match with, made once and shared by all streams."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gateway.domain.moderation.automaton import Automaton
from gateway.domain.moderation.folding import EDGE, Folding, Kind
from gateway.domain.moderation.normalise import normalise
from gateway.domain.moderation.phrases import PhraseList, Rule, Spelling, merged, spellings


class Needle(NamedTuple):
    """One form of a rule's phrase."""

    rule: int
    length: int
    weight: int
    """Its length without edges."""
    edged: bool
    """Whether it begins with an edge."""


class Index:
    """Many needles, to be found in one way of reading."""

    def __init__(self, forms: Iterable[tuple[int, str]]) -> None:
        numbered = list(forms)
        self.automaton = Automaton([form for _, form in numbered])
        self.needles: Sequence[Needle] = [
            Needle(rule, len(form), len(form) - form.count(EDGE), form.startswith(EDGE)) for rule, form in numbered
        ]


class PhraseBook:
    """All rules of some lists, with an index for each way in which a text is read."""

    def __init__(self, lists: Iterable[PhraseList]) -> None:
        lists = tuple(lists)
        self.folding = Folding()
        self.stand_ins = Folding(stand_ins=True)
        self.rules: Sequence[Rule] = merged(lists, self.folding)
        rules = list(enumerate(self.rules))
        self.plain = Index((number, form) for number, rule in rules for form in spellings(rule.phrase, rule.read))
        self.spaced = Index(
            (number, rule.read.replace(EDGE, "")) for number, rule in rules if self._has_long_word(rule.read)
        )
        """For words that are spelt out, `s p a m`: the phrases with a word of several letters, without edges."""
        self.leet = Index(
            (number, normalise(rule.phrase.text, self.stand_ins).text)
            for number, rule in rules
            if rule.phrase.spelling is Spelling.LEET
        )
        read = [normalise(text, self.folding).text for each in lists for text in each.allowed]
        self.allowed = Index(enumerate(filter(None, read)))

    def _has_long_word(self, read: str) -> bool:
        """Whether letters stand side by side in it; ideographs are never in one piece with them."""
        return any(len(piece) > 1 and self.folding[piece[0]][0].kind is Kind.LETTER for piece in read.split(EDGE))
