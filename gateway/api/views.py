"""What callers get to see of scenarios, sessions, turns and contexts."""

from datetime import datetime
from typing import Generic, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from sessions.domain.citation import Citation
from sessions.domain.context import Context
from sessions.domain.moderation import NOTHING_FOUND, Judgement, Mark
from sessions.domain.scenario import Scenario
from sessions.domain.session import Session
from sessions.domain.turn import Turn

Item = TypeVar("Item")


class View(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class PageView(View, Generic[Item]):
    items: tuple[Item, ...]
    next_cursor: str | None = None


class SceneView(View):
    name: str
    script: str


class CriterionView(View):
    name: str
    description: str
    weight: float
    blocker: bool


class RubricView(View):
    criteria: tuple[CriterionView, ...]
    pass_mark: float


class PointView(View):
    name: str
    phrases: tuple[str, ...]


class OutlineView(View):
    required: tuple[PointView, ...]
    forbidden: tuple[PointView, ...]


class LimitsView(View):
    max_turns: int
    max_reply_tokens: int | None


class ScenarioView(View):
    id: UUID
    version: int
    latest_version: int
    created_at: datetime
    title: str
    locale: str
    persona: str
    instructions: str
    opening: str
    scenes: tuple[SceneView, ...]
    rubric: RubricView
    limits: LimitsView
    model_tiers: dict[str, str]
    sensitive: bool
    knowledge_base_id: UUID | None
    guidance: str
    outline: OutlineView

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        content = scenario.content
        return cls(
            id=scenario.id,
            version=scenario.version,
            latest_version=scenario.latest_version,
            created_at=scenario.created_at,
            title=content.title,
            locale=content.locale,
            persona=content.persona,
            instructions=content.instructions,
            opening=content.opening,
            scenes=tuple(SceneView.model_validate(scene) for scene in content.scenes),
            rubric=RubricView.model_validate(content.rubric),
            limits=LimitsView.model_validate(content),
            model_tiers={tier.value: model for tier, model in content.tiers},
            sensitive=content.is_sensitive,
            knowledge_base_id=content.knowledge_base,
            guidance=content.guidance,
            outline=OutlineView.model_validate(content.outline),
        )


class SessionView(View):
    id: UUID
    scenario_id: UUID
    scenario_version: int
    drill_id: UUID | None
    trainee_id: UUID
    state: str
    scene: str
    turn_count: int
    opening: str
    metadata: dict[str, str]
    created_at: datetime
    closed_at: datetime | None

    @classmethod
    def of(cls, session: Session) -> Self:
        return cls(
            id=session.id,
            scenario_id=session.scenario,
            scenario_version=session.scenario_version,
            drill_id=session.drill,
            trainee_id=session.trainee,
            state=session.state,
            scene=session.scene,
            turn_count=session.turn_count,
            opening=session.opening,
            metadata=dict(session.metadata),
            created_at=session.created_at,
            closed_at=session.closed_at,
        )


class UsageView(View):
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


class TimingsView(View):
    queue_ms: float
    ttft_ms: float | None
    e2e_ms: float


class TurnErrorView(View):
    code: str
    message: str
    retryable: bool


class CitationView(View):
    """A piece of a document that stood before the message or the question."""

    document_id: UUID
    document_name: str
    chunk: int
    heading: str

    @classmethod
    def of(cls, citation: Citation) -> Self:
        return cls(
            document_id=citation.document,
            document_name=citation.document_name,
            chunk=citation.chunk,
            heading=citation.heading,
        )


class FindingView(View):
    """Which rule was met and where: the characters [start, end) of the text, and never the words."""

    direction: str
    source: str
    rule: str
    category: str
    severity: int
    action: str
    list: str | None
    list_version: int | None
    start: int
    end: int
    score: float | None
    """How sure it is, from 0 to 1; null: it is certain."""
    sha256: str
    """Of the words."""

    @classmethod
    def of(cls, mark: Mark) -> Self:
        return cls(
            direction=mark.direction,
            source=mark.source,
            rule=mark.rule,
            category=mark.category,
            severity=mark.severity,
            action=mark.action,
            list=mark.list_name or None,
            list_version=mark.list_version or None,
            start=mark.start,
            end=mark.end,
            score=mark.score,
            sha256=mark.digest,
        )


class JudgementView(View):
    """What moderation found in a turn."""

    verdict: str
    findings: tuple[FindingView, ...]
    points: tuple[str, ...]

    @classmethod
    def of(cls, judgement: Judgement) -> Self:
        return cls(
            verdict=judgement.verdict,
            findings=tuple(FindingView.of(mark) for mark in judgement.marks),
            points=judgement.points,
        )


class TurnView(View):
    session_id: UUID
    turn: int
    state: str
    scene: str
    text: str
    reply: str
    finish_reason: str | None
    usage: UsageView
    timings: TimingsView
    replica: str | None
    continued: bool
    model: str
    tier: str
    fell_back: bool
    citations: tuple[CitationView, ...]
    error: TurnErrorView | None
    blocked_reason: str | None
    moderation: JudgementView | None
    started_at: datetime
    ended_at: datetime

    @classmethod
    def of(cls, turn: Turn, *, shows_findings: bool) -> Self:
        """The rules are not shown to who is trained by them."""
        return cls(
            session_id=turn.session,
            turn=turn.number,
            state=turn.state,
            scene=turn.scene,
            text=turn.text,
            reply=turn.reply,
            finish_reason=turn.finish_reason,
            usage=UsageView.model_validate(turn.usage),
            timings=TimingsView.model_validate(turn.timings),
            replica=turn.replica,
            continued=turn.continued,
            model=turn.model,
            tier=turn.tier,
            fell_back=turn.fell_back,
            citations=tuple(CitationView.of(citation) for citation in turn.citations),
            error=TurnErrorView.model_validate(turn.error) if turn.error is not None else None,
            blocked_reason=turn.moderation.blocked,
            moderation=JudgementView.of(turn.moderation)
            if shows_findings and turn.moderation != NOTHING_FOUND
            else None,
            started_at=turn.started_at,
            ended_at=turn.ended_at,
        )


class CancelView(View):
    session_id: UUID
    turn: int


class BlockView(View):
    kind: str
    tokens: int
    sha256: str
    from_turn: int | None
    to_turn: int | None


class MessageView(View):
    role: str
    content: str


class NoteView(View):
    """What is kept of turns that no longer stand word for word; its text is in the summary."""

    from_turn: int
    to_turn: int
    tokens: int
    made_by: str
    created_at: datetime


class ContextView(View):
    session_id: UUID
    model: str
    window_tokens: int
    reply_tokens: int
    prompt_tokens: int
    available_tokens: int
    blocks: tuple[BlockView, ...]
    messages: tuple[MessageView, ...]
    summary: str | None
    notes: tuple[NoteView, ...]
    prompt_sha256: str
    counted_by: str

    @classmethod
    def of(cls, context: Context) -> Self:
        return cls(
            session_id=context.session,
            model=context.model,
            window_tokens=context.window_tokens,
            reply_tokens=context.reply_tokens,
            prompt_tokens=context.prompt_tokens,
            available_tokens=context.available_tokens,
            blocks=tuple(BlockView.model_validate(block) for block in context.blocks),
            messages=tuple(MessageView.model_validate(message) for message in context.messages),
            summary=context.summary or None,
            notes=tuple(NoteView.model_validate(note) for note in context.notes),
            prompt_sha256=context.prompt_sha256,
            counted_by=context.counted_by,
        )


class CheckView(View):
    ok: bool
    detail: str


class ReadinessView(View):
    ready: bool
    checks: dict[str, CheckView]


class LivenessView(View):
    status: str
    instance: str


class FaultView(View):
    field: str
    detail: str


class ProblemView(BaseModel):
    """An error answer (RFC 9457); further members hold the facts of its code."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[FaultView] | None = None
