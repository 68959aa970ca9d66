"""Knows what a list of phrases says, which lists may be used, and how those of tenant and scenario become one."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from gateway.domain.moderation.folding import EDGE, Folding
from gateway.domain.moderation.normalise import normalise

MOST_PHRASES = 50_000
LONGEST_PHRASE = 128
"""In characters, as it is written and as it is read."""
LONGEST_NAME = 64
MOST_SYLLABLES = 6


class Action(StrEnum):
    """What is done about a phrase, the mildest first."""

    FLAG = "flag"
    """The text goes on; the finding is told."""
    MASK = "mask"
    """A mark stands in place of the phrase."""
    BLOCK = "block"
    """Neither the phrase nor anything after it leaves."""


STRICTNESS = {action: rank for rank, action in enumerate(Action)}


class Severity(IntEnum):
    """How bad it is; for people and reports, since the action decides."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4


class Spelling(StrEnum):
    """How else a phrase may be written, beside what every phrase is read in (see `normalise` and `readings`)."""

    PLAIN = "plain"
    LEET = "leet"
    """With figures and signs for letters (`fr33`), in whole words."""
    PINYIN = "pinyin"
    """The phrase is syllables between spaces, which may be run together or not; in whole words."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """One rule."""

    id: str
    text: str
    category: str
    severity: Severity = Severity.MEDIUM
    action: Action = Action.BLOCK
    spelling: Spelling = Spelling.PLAIN


@dataclass(frozen=True, slots=True)
class PhraseList:
    """The rules of a tenant or a scenario, in one version; `allowed` are phrases that banned ones may stand in."""

    name: str
    version: int
    phrases: tuple[Phrase, ...] = ()
    allowed: tuple[str, ...] = ()


class Reason(StrEnum):
    """What is wrong with a list."""

    TOO_MANY = "too_many"
    ID_INVALID = "id_invalid"
    ID_REPEATED = "id_repeated"
    CATEGORY_INVALID = "category_invalid"
    EMPTY = "empty"
    """Nothing is left when it is read: it would be found everywhere."""
    TOO_SHORT = "too_short"
    """A single letter or figure."""
    TOO_LONG = "too_long"
    NOT_SYLLABLES = "not_syllables"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a list may not be used: which of its phrases (or allowed ones), from 0, and for what reason."""

    reason: Reason
    at: int
    among: str = "phrases"


def faults(found: PhraseList, folding: Folding) -> tuple[Fault, ...]:
    """All that is wrong with a list; empty: it may be used."""
    if len(found.phrases) + len(found.allowed) > MOST_PHRASES:
        return (Fault(Reason.TOO_MANY, MOST_PHRASES),)  # not a word of so long a list is looked at
    ids = Counter(phrase.id for phrase in found.phrases)
    return (
        *(Fault(why, at) for at, phrase in enumerate(found.phrases) for why in _of_phrase(phrase, ids, folding)),
        *(Fault(why, at, "allowed") for at, text in enumerate(found.allowed) for why in _of_text(text, folding)),
    )


def _of_phrase(phrase: Phrase, ids: Counter[str], folding: Folding) -> Iterator[Reason]:
    if not _is_name(phrase.id):
        yield Reason.ID_INVALID
    if ids[phrase.id] > 1:
        yield Reason.ID_REPEATED
    if not _is_name(phrase.category):
        yield Reason.CATEGORY_INVALID
    yield from _of_text(phrase.text, folding)
    if phrase.spelling is Spelling.PINYIN and not _are_syllables(phrase.text, folding):
        yield Reason.NOT_SYLLABLES


def _of_text(text: str, folding: Folding) -> Iterator[Reason]:
    if len(text) > LONGEST_PHRASE:
        yield Reason.TOO_LONG
        return
    read = normalise(text, folding).text
    if not read:
        yield Reason.EMPTY
    elif len(read) > LONGEST_PHRASE:
        yield Reason.TOO_LONG
    elif read.startswith(EDGE) and len(read.strip(EDGE)) == 1:
        yield Reason.TOO_SHORT


def _is_name(text: str) -> bool:
    return 0 < len(text) <= LONGEST_NAME and text.isprintable()


def _are_syllables(text: str, folding: Folding) -> bool:
    read = normalise(text, folding).text
    letters = read.replace(EDGE, "")
    return letters.isascii() and letters.isalpha() and len(read.split()) <= MOST_SYLLABLES


def spellings(phrase: Phrase, read: str) -> Sequence[str]:
    """All that a phrase may look like in a text that is read."""
    if phrase.spelling is not Spelling.PINYIN:
        return (read,)
    first, *others = read.split()
    forms = [first]
    for syllable in others:
        forms = [form + between + syllable for form in forms for between in ("", EDGE)]
    return [f"{EDGE}{form}{EDGE}" for form in forms]


@dataclass(frozen=True, slots=True)
class Rule:
    """A phrase that is used, as it is read, with the list it comes from."""

    phrase: Phrase
    read: str
    list_name: str
    list_version: int


def merged(lists: Iterable[PhraseList], folding: Folding) -> tuple[Rule, ...]:
    """The rules of all lists; of two with the same words the stricter one is used, and of equals the first.

    What is left of no words is left out, even where nobody looked for `faults`: it would be found everywhere.
    """
    rules: dict[tuple[str, Spelling], Rule] = {}
    for each in lists:
        for phrase in each.phrases:
            rule = Rule(phrase, normalise(phrase.text, folding).text, each.name, each.version)
            key = rule.read, phrase.spelling
            known = rules.get(key)
            if rule.read and (known is None or _is_stricter(rule, known)):
                rules[key] = rule
    return tuple(rules.values())


def _is_stricter(rule: Rule, known: Rule) -> bool:
    return STRICTNESS[rule.phrase.action] > STRICTNESS[known.phrase.action]
