"""What reviewers get to see."""

from datetime import datetime
from typing import Self
from uuid import UUID

from gateway.api.views import TurnView, View
from sessions.domain.review import ChangeKind, Decision, ListChange, Review, ReviewInContext
from sessions.domain.turn import Turn


class AllowView(View):
    list_id: UUID
    phrase: str


class RemoveRuleView(View):
    list_id: UUID
    rule: str


class EffectView(View):
    allow: AllowView | None = None
    remove_rule: RemoveRuleView | None = None
    list_version: int | None
    """The version of the list that has it so; null: it is still to be done."""

    @classmethod
    def of(cls, change: ListChange) -> Self:
        if change.kind is ChangeKind.ALLOW:
            return cls(allow=AllowView(list_id=change.list, phrase=change.subject), list_version=change.version)
        return cls(remove_rule=RemoveRuleView(list_id=change.list, rule=change.subject), list_version=change.version)


class DecisionView(View):
    session_id: UUID
    turn: int
    decision: str
    note: str
    effect: EffectView | None
    decided_by: UUID
    decided_at: datetime

    @classmethod
    def of(cls, decision: Decision) -> Self:
        return cls(
            session_id=decision.session,
            turn=decision.turn,
            decision=decision.decided,
            note=decision.note,
            effect=None if decision.effect is None else EffectView.of(decision.effect),
            decided_by=decision.by,
            decided_at=decision.at,
        )


class ReviewView(View):
    session_id: UUID
    turn: int
    state: str
    trainee_id: UUID
    scenario_id: UUID
    scenario_version: int
    verdict: str
    blocked_reason: str | None
    sources: tuple[str, ...]
    findings: int
    """How many."""
    ended_at: datetime
    decision: DecisionView | None

    @classmethod
    def of(cls, review: Review) -> Self:
        turn, found = review.turn, review.turn.moderation
        return cls(
            session_id=turn.session,
            turn=turn.number,
            state=review.state,
            trainee_id=review.trainee,
            scenario_id=review.scenario,
            scenario_version=review.scenario_version,
            verdict=found.verdict,
            blocked_reason=found.blocked,
            sources=tuple(dict.fromkeys(mark.source for mark in found.marks)),
            findings=len(found.marks),
            ended_at=turn.ended_at,
            decision=None if review.decision is None else DecisionView.of(review.decision),
        )


class ReviewInContextView(View):
    """One turn with its findings, and the turns around it."""

    review: ReviewView
    scenario_title: str
    withheld: str | None
    """What the trainee said, where moderation kept it back."""
    played: TurnView
    before: tuple[TurnView, ...]
    after: tuple[TurnView, ...]

    @classmethod
    def of(cls, found: ReviewInContext) -> Self:
        def shown(turns: tuple[Turn, ...]) -> tuple[TurnView, ...]:
            return tuple(TurnView.of(turn, shows_findings=True) for turn in turns)

        return cls(
            review=ReviewView.of(found.review),
            scenario_title=found.title,
            withheld=found.withheld,
            played=TurnView.of(found.review.turn, shows_findings=True),
            before=shown(found.before),
            after=shown(found.after),
        )
