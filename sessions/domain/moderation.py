"""What moderation says of a text, as sessions keep it: which rules it met and where, and never the words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Direction(StrEnum):
    INPUT = "input"
    """What a person says, or knowledge that is shown to a model."""
    OUTPUT = "output"
    """What a model says."""


class Source(StrEnum):
    """Which stage found it."""

    PHRASE = "phrase"
    INJECTION = "injection"
    GUARD = "guard"
    OUTLINE = "outline"


class Action(StrEnum):
    """What was done about it, the mildest first."""

    FLAG = "flag"
    MASK = "mask"
    BLOCK = "block"


class Verdict(StrEnum):
    ALLOW = "allow"
    FLAG = "flag"
    """It went on, perhaps with masks; a person should look at it."""
    BLOCK = "block"


class BlockReason(StrEnum):
    """Why a text was stopped, as callers are told."""

    BANNED_PHRASE = "banned_phrase"
    INJECTION = "injection"
    UNSAFE = "unsafe_content"
    """A guard model said so."""
    UNCHECKED = "moderation_unavailable"
    """A guard model had to say so, and was away."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One finding, in the raw characters [start, end) of the text."""

    direction: Direction
    source: Source
    rule: str
    """The id of a phrase, the name of a signal, a guard model's category, or a point of the outline."""
    category: str
    severity: int
    """From 1 to 4."""
    action: Action
    list_name: str = ""
    list_version: int = 0
    """Of the list that the rule stands in; 0: it stands in none."""
    start: int = 0
    end: int = 0
    digest: str = ""
    """Of the words that were met: SHA-256 in hexadecimal digits."""
    score: float | None = None
    """How sure it is, from 0 to 1; None: it is certain."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that was found in a text, or in a turn's message and reply."""

    marks: tuple[Mark, ...] = ()
    blocked: BlockReason | None = None
    points: tuple[str, ...] = ()
    """The points of the scenario's outline that a reply made."""

    @property
    def verdict(self) -> Verdict:
        if self.blocked is not None:
            return Verdict.BLOCK
        return Verdict.FLAG if self.marks else Verdict.ALLOW

    @property
    def masks_message(self) -> bool:
        """Whether a person's words did not go on as they were sent."""
        return any(mark.direction is Direction.INPUT and mark.action is Action.MASK for mark in self.marks)


NOTHING_FOUND = Judgement()

_CONSEQUENCES = (Action.BLOCK, Action.MASK, Action.FLAG)
MOST_MARKS = 100
"""A rule of one common word would make a turn longer than its texts."""


@dataclass(frozen=True, slots=True)
class Moderated:
    """A whole text: what of it may go on, which is nothing behind a block, and what was found."""

    text: str
    judgement: Judgement = NOTHING_FOUND

    @property
    def blocked(self) -> BlockReason | None:
        return self.judgement.blocked


def together(judgements: Iterable[Judgement]) -> Judgement:
    """What was found in several texts, in their order; the first block counts.

    Of more than `MOST_MARKS` those are kept that had the hardest consequences, and of alike ones the first.
    """
    found = tuple(judgements)
    return Judgement(
        marks=_bounded([mark for each in found for mark in each.marks]),
        blocked=next((each.blocked for each in found if each.blocked is not None), None),
        points=tuple(point for each in found for point in each.points),
    )


def _bounded(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    hardest = sorted(range(len(marks)), key=lambda at: _CONSEQUENCES.index(marks[at].action))
    return tuple(marks[at] for at in sorted(hardest[:MOST_MARKS]))
