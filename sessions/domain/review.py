"""Knows the review of turns that moderation has marks on: what waits, what was decided, and what that changes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sessions.domain.moderation import Source, Verdict
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import SessionId
from sessions.domain.turn import Turn
from sessions.domain.viewer import AccountId

NEIGHBOURS = 2
"""How many turns before and behind are shown with one."""


class Decided(StrEnum):
    CONFIRMED = "confirmed"
    FALSE_ALARM = "false_alarm"


class ReviewState(StrEnum):
    OPEN = "open"
    DECIDED = "decided"


class ChangeKind(StrEnum):
    """What a decision changes in a phrase list."""

    ALLOW = "allow"
    """A phrase in which banned ones may stand."""
    REMOVE_RULE = "remove_rule"


@dataclass(frozen=True, slots=True)
class ListChange:
    kind: ChangeKind
    list: UUID
    subject: str
    """The phrase that is allowed, or the id of the rule that goes."""
    version: int | None = None
    """Of the list, which has it so; None: that is still to be done."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody decided about a turn, once and for good."""

    session: SessionId
    turn: int
    decided: Decided
    note: str
    effect: ListChange | None
    by: AccountId
    at: datetime

    def repeats(self, earlier: "Decision") -> bool:
        """Whether it says the same, whoever says it and when."""
        return (self.decided, self.note, _asked(self.effect)) == (earlier.decided, earlier.note, _asked(earlier.effect))


@dataclass(frozen=True, slots=True)
class Review:
    """A turn in which something was found."""

    turn: Turn
    trainee: AccountId
    scenario: ScenarioId
    scenario_version: int
    decision: Decision | None = None

    @property
    def state(self) -> ReviewState:
        return ReviewState.OPEN if self.decision is None else ReviewState.DECIDED


@dataclass(frozen=True, slots=True)
class ReviewInContext:
    """All that a reviewer needs."""

    review: Review
    title: str
    """Of the scenario."""
    withheld: str | None
    """What the trainee said, where moderation stopped it; it is shown here and nowhere else."""
    before: tuple[Turn, ...]
    after: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """None: any."""

    state: ReviewState | None = None
    session: SessionId | None = None
    source: Source | None = None
    """One of the findings is of this stage."""
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class ReviewPlace:
    """After which turn a page begins."""

    at: datetime
    session: SessionId
    turn: int


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """The newest first."""

    items: tuple[Review, ...]
    next: ReviewPlace | None = None


def place_of(review: Review) -> ReviewPlace:
    return ReviewPlace(review.turn.ended_at, review.turn.session, review.turn.number)


def is_for_review(turn: Turn) -> bool:
    """Whether more was found than points of the outline."""
    return turn.moderation.verdict is not Verdict.ALLOW


def fits(review: Review, which: ReviewFilter) -> bool:
    found = review.turn.moderation
    return (
        which.state in (None, review.state)
        and which.session in (None, review.turn.session)
        and which.verdict in (None, found.verdict)
        and (which.source is None or any(mark.source is which.source for mark in found.marks))
    )


def page_of(found: list[Review], limit: int) -> ReviewPage:
    """The first `limit` of the reviews, of which there may be one more to tell that a page follows."""
    shown = tuple(found[:limit])
    return ReviewPage(shown, place_of(shown[-1]) if len(found) > limit else None)


def audit_facts(decision: Decision) -> Mapping[str, str | None]:
    """What the audit trail tells of it: nobody's words."""
    effect = decision.effect
    return {
        "decision": decision.decided,
        "effect": None if effect is None else effect.kind,
        "list": None if effect is None else str(effect.list),
    }


def _asked(effect: ListChange | None) -> ListChange | None:
    return None if effect is None else replace(effect, version=None)
