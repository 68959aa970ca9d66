"""What the public API answers reviewers; members that are not named here are left alone."""

from datetime import datetime

from gateway.cli.moderation_wire import FindingView
from gateway.cli.wire import Answer


class AllowView(Answer):
    list_id: str
    phrase: str


class RemoveRuleView(Answer):
    list_id: str
    rule: str


class EffectView(Answer):
    allow: AllowView | None = None
    remove_rule: RemoveRuleView | None = None
    list_version: int | None


class DecisionView(Answer):
    decision: str
    note: str
    effect: EffectView | None
    decided_by: str
    decided_at: datetime


class ReviewView(Answer):
    session_id: str
    turn: int
    state: str
    trainee_id: str
    scenario_id: str
    scenario_version: int
    verdict: str
    blocked_reason: str | None
    sources: tuple[str, ...]
    findings: int
    ended_at: datetime
    decision: DecisionView | None


class JudgementView(Answer):
    findings: tuple[FindingView, ...]


class PlayedTurn(Answer):
    turn: int
    state: str
    text: str
    reply: str
    moderation: JudgementView | None = None


class ReviewInContext(Answer):
    review: ReviewView
    scenario_title: str
    withheld: str | None
    played: PlayedTurn
    before: tuple[PlayedTurn, ...]
    after: tuple[PlayedTurn, ...]


class PointView(Answer):
    kind: str
    name: str
    made: bool
    turns: tuple[int, ...]


class OutlineReport(Answer):
    points: tuple[PointView, ...]
    required_made: int
    required_total: int
    forbidden_made: int
    compliant: bool
