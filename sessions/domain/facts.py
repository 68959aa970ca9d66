"""The key facts of turns, found without a model: sentences of the turns themselves, as they were said.

What is worth keeping says something of its own: a sentence whose words stand in most of the turns is filler, whatever
number it carries.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sessions.domain.note_check import checked_text, unmarked
from sessions.domain.prompt import PromptRules
from sessions.domain.salience import cues
from sessions.domain.sentences import sentences
from sessions.domain.turn import Turn

_LONG = 120
_CLAUSE = re.compile(r"(?<=[,，、:：])\s*")
_TERM = re.compile(r"[a-z0-9'-]+|[一-鿿]+")
_DIGIT = re.compile(r"\d")
_RAREST = 4
_LEAST_TOKENS = 6
"""Less than this holds no line."""
_LEAST_RARITY = 0.2
_UNREMARKABLE = 0.4
"""What a sentence without any cue is worth."""
_TUTORS_SHARE = 0.5
"""The trainee's own words come first."""


@dataclass(frozen=True, slots=True)
class Fact:
    turn: int
    by_tutor: bool
    place: int
    text: str
    worth: float

    @property
    def line(self) -> str:
        return f"[t{self.turn}{' tutor' if self.by_tutor else ''}] {self.text}"


@dataclass(frozen=True, slots=True)
class FactRules:
    """How much may be kept, and what of."""

    rules: PromptRules
    count: Callable[[str], int]
    limit: int
    """The most tokens of all lines together."""
    with_unremarkable: bool = False
    """Whether sentences without any sign of a fact fill what is left."""


def key_facts(turns: Iterable[Turn], chosen_by: FactRules) -> str:
    """The best lines that fit, in the order in which they were said; empty when nothing is worth keeping."""
    shown = [turn for turn in turns if turn.is_remembered]
    ranked = sorted(_facts(shown, chosen_by), key=lambda fact: (-fact.worth, fact.turn, fact.by_tutor, fact.place))
    chosen = sorted(_fitting(ranked, chosen_by), key=lambda fact: (fact.turn, fact.by_tutor, fact.place))
    return "\n".join(fact.line for fact in chosen)


def _facts(turns: Sequence[Turn], chosen_by: FactRules) -> Iterator[Fact]:
    spread = _Spread(turns)
    seen: set[str] = set()
    for turn, by_tutor, place, text in _pieces(turns):
        said = text.casefold()
        if said in seen:
            continue
        seen.add(said)
        rarity = spread.rarity(tuple(_terms(text)))
        worth = cues(text) if rarity >= _LEAST_RARITY else 0.0
        if worth or (rarity >= _LEAST_RARITY and chosen_by.with_unremarkable):
            share = _TUTORS_SHARE if by_tutor else 1.0
            yield Fact(turn, by_tutor, place, text, (worth + _UNREMARKABLE) * rarity * share)


def _fitting(ranked: Sequence[Fact], chosen_by: FactRules) -> Iterator[Fact]:
    """Checked here and not before, since checking is what takes time."""
    left = chosen_by.limit
    for found in ranked:
        if left < _LEAST_TOKENS:
            return
        fact = replace(found, text=checked_text(unmarked(found.text), chosen_by.rules))
        tokens = chosen_by.count(fact.line + "\n")
        if fact.text and tokens <= left:
            left -= tokens
            yield fact


def _pieces(turns: Sequence[Turn]) -> Iterator[tuple[int, bool, int, str]]:
    for turn in turns:
        for by_tutor, said in ((False, turn.text), (True, turn.reply)):
            pieces = (piece for sentence in sentences(said) for piece in _short(sentence))
            for place, piece in enumerate(pieces):
                yield turn.number, by_tutor, place, piece


def _short(sentence: str) -> Iterator[str]:
    """A sentence that goes on and on is taken clause by clause, and a clause that does in pieces."""
    if len(sentence) <= _LONG:
        yield sentence
        return
    for clause in _CLAUSE.split(sentence):
        for start in range(0, len(clause), _LONG):
            if piece := clause[start : start + _LONG].strip():
                yield piece


class _Spread:
    """In how many of the turns each term stands."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = len(turns)
        self._in = Counter(term for turn in turns for term in set(_terms(f"{turn.text}\n{turn.reply}")))

    def rarity(self, terms: Sequence[str]) -> float:
        """0 where all its terms stand in every turn, 1 where its rarest ones stand in this turn only."""
        rarest = sorted((self._of(term) for term in set(terms)), reverse=True)[:_RAREST]
        return sum(rarest) / len(rarest) if rarest else 0.0

    def _of(self, term: str) -> float:
        return math.log((self._turns + 1) / max(1, self._in[term])) / math.log(self._turns + 1)


def _terms(text: str) -> Iterator[str]:
    """Words, and pairs of Chinese characters; figures by their shape only, so that a counted line stays the same."""
    for term in _TERM.findall(_DIGIT.sub("0", text.lower())):
        if term[0] < "一" or len(term) == 1:
            yield term
        else:
            yield from (term[at : at + 2] for at in range(len(term) - 1))
