"""What callers may send, field by field; unknown fields, other types and control characters are refused."""

import re
import unicodedata
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field

from gateway.api.ids import scenario_id_of, uuid_of
from gateway.domain.moderation.fault_words import told
from gateway.domain.moderation.phrases import LONGEST_PHRASE
from gateway.domain.moderation.talking_points import phrase_fault
from gateway.domain.rfc3339 import moment_of
from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.drill import DrillPlan
from sessions.domain.outline import MAX_PHRASES, MAX_POINTS, Outline, Point
from sessions.domain.scenario import Criterion, Rubric, ScenarioContent, Scene
from sessions.domain.tiers import Tier

# Unicode's Cc without tab and line ends; a megabyte of questions is looked through while everybody's turns wait.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_MAX_INT = 2_147_483_647


def _text(value: str) -> str:
    if _CONTROL.search(value):
        raise ValueError("control characters are not allowed")
    return value


def _line(value: str) -> str:
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in value):
        raise ValueError("control characters and line breaks are not allowed")
    return value


def _base_ref(value: str) -> str:
    if uuid_of(value) is None:
        raise ValueError("there is no such knowledge base")
    return value


def _phrase(value: str) -> str:
    fault = phrase_fault(value)
    if fault is not None:
        raise ValueError(told([fault])[0][1])
    return value


def _moment(value: str) -> str:
    _read(value)
    return value


def _read(value: str) -> datetime:
    moment = moment_of(value)
    if moment is None:
        raise ValueError("a moment is written as 2026-03-01T09:00:00Z")
    return moment


Text = Annotated[str, AfterValidator(_text)]
Moment = Annotated[str, Field(max_length=40, json_schema_extra={"format": "date-time"}), AfterValidator(_moment)]
Line = Annotated[str, Field(max_length=200), AfterValidator(_line)]
PointPhrase = Annotated[str, Field(max_length=LONGEST_PHRASE), AfterValidator(_line), AfterValidator(_phrase)]
ModelName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_line)]
KnowledgeBaseRef = Annotated[str, AfterValidator(_base_ref)]
MetadataName = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_line)]
MetadataValue = Annotated[str, Field(max_length=512), AfterValidator(_text)]


class Sent(BaseModel):
    # Lists stop at their first fault: to gather each of a hundred thousand would hold everybody's turns up.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class SceneBody(Sent):
    name: Line
    script: Text


class CriterionBody(Sent):
    name: Line
    description: Text
    weight: float = Field(default=1.0, ge=0, le=1000)
    blocker: bool = False


class RubricBody(Sent):
    criteria: Annotated[list[CriterionBody], FailFast()]
    pass_mark: float = Field(default=0.6, ge=0, le=1)


class LimitsBody(Sent):
    max_turns: int = Field(default=50, ge=1, le=_MAX_INT)
    max_reply_tokens: int | None = Field(default=None, ge=1, le=_MAX_INT)


class ModelTiersBody(Sent):
    """A model for each kind of work that is named; null: none of its own."""

    role_play: ModelName | None = None
    faq: ModelName | None = None
    scoring: ModelName | None = None
    summary: ModelName | None = None
    sensitive: ModelName | None = None

    def changes(self) -> dict[Tier, str | None]:
        return {tier: getattr(self, tier) for tier in Tier if tier in self.model_fields_set}

    def chosen(self) -> tuple[tuple[Tier, str], ...]:
        return tuple((tier, model) for tier, model in self.changes().items() if model is not None)


class PointBody(Sent):
    """A talking point, which a reply makes by any of its phrases."""

    name: Line
    phrases: Annotated[list[PointPhrase], FailFast(), Field(max_length=MAX_PHRASES)]

    def point(self) -> Point:
        return Point(self.name, tuple(self.phrases))


class OutlineBody(Sent):
    """What the tutor's replies are to say, and what they must not."""

    required: Annotated[list[PointBody], FailFast(), Field(max_length=MAX_POINTS)] = []
    forbidden: Annotated[list[PointBody], FailFast(), Field(max_length=MAX_POINTS)] = []

    def outline(self) -> Outline:
        return Outline(
            required=tuple(point.point() for point in self.required),
            forbidden=tuple(point.point() for point in self.forbidden),
        )


class ScenarioBody(Sent):
    """One version of a scenario, as an instructor writes it."""

    title: Line
    locale: str = Field(max_length=35, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", description="BCP 47")
    persona: Text
    instructions: Text | None = None
    opening: Text
    scenes: Annotated[list[SceneBody], FailFast()]
    rubric: RubricBody | None = None
    limits: LimitsBody | None = None
    model_tiers: ModelTiersBody | None = None
    sensitive: bool = Field(default=False, description="its work is done by the model of `sensitive`, or not at all")
    knowledge_base_id: KnowledgeBaseRef | None = Field(
        default=None, description="where the background of each message is looked up"
    )
    outline: OutlineBody | None = None

    def content(self) -> ScenarioContent:
        limits = self.limits or LimitsBody()
        return ScenarioContent(
            title=self.title,
            locale=self.locale,
            persona=self.persona,
            instructions=self.instructions or "",
            opening=self.opening,
            scenes=tuple(Scene(scene.name, scene.script) for scene in self.scenes),
            rubric=self._rubric(),
            max_turns=limits.max_turns,
            max_reply_tokens=limits.max_reply_tokens,
            tiers=(self.model_tiers or ModelTiersBody()).chosen(),
            is_sensitive=self.sensitive,
            knowledge_base=None if self.knowledge_base_id is None else KnowledgeBaseId(UUID(self.knowledge_base_id)),
            outline=(self.outline or OutlineBody()).outline(),
        )

    def _rubric(self) -> Rubric:
        if self.rubric is None:
            return Rubric()
        criteria = tuple(
            Criterion(criterion.name, criterion.description, criterion.weight, criterion.blocker)
            for criterion in self.rubric.criteria
        )
        return Rubric(criteria, self.rubric.pass_mark)


class KnowledgeBaseBody(Sent):
    """A knowledge base, as an instructor begins it."""

    name: Line
    guidance: Text | None = Field(default=None, description="how the tutor is to use it")


class DocumentBody(Sent):
    """A short plain text for a knowledge base; longer ones, and other formats, are sent as they are."""

    name: Line
    text: str


class SessionBody(Sent):
    """A session to be started. Ids are opaque: one that could never be an id is one that does not exist."""

    scenario_id: str
    drill_id: str | None = None
    metadata: dict[MetadataName, MetadataValue] | None = Field(default=None, max_length=32)


class DrillBody(Sent):
    """The plan of a drill, as an instructor sets it."""

    name: Line
    scenario_id: str
    starts_at: Moment
    ends_at: Moment = Field(description="from then on no new session begins in it")
    expected_trainees: int
    seats: int | None = Field(default=None, description="sessions that capacity never refuses a turn; null: all")
    walk_ins: int = Field(default=0, description="sessions that may come beyond the seats")
    turns_in_flight: int | None = Field(default=None, description="while so many turns run, those of walk-ins wait")

    def plan(self) -> DrillPlan:
        """Raises `ScenarioNotFound` for what could not be a scenario's id."""
        return DrillPlan(
            name=self.name,
            scenario=scenario_id_of(self.scenario_id),
            starts_at=_read(self.starts_at),
            ends_at=_read(self.ends_at),
            expected_trainees=self.expected_trainees,
            seats=self.seats,
            walk_ins=self.walk_ins,
            turns_in_flight=self.turns_in_flight,
        )


class SceneChangeBody(Sent):
    """The scene that the session goes on in, by its name."""

    scene: str


class TurnBody(Sent):
    text: Text


class QuestionsBody(Sent):
    """Questions to a knowledge base, or to one document of it; each gets its own answer or its own error."""

    # How many one job takes is a setting, and refused by its own name.
    questions: Annotated[list[Text], FailFast()] = Field(min_length=1)
    document_id: str | None = None


class DrainBody(Sent):
    """How a replica is to be emptied."""

    within_s: float | None = Field(
        default=None, gt=0, le=86_400, description="until then sessions move when it suits them, after it at once"
    )


class KeyBody(Sent):
    """Whose key is made, and what it is for."""

    name: Line = Field(min_length=1, description="the account's, which is made when there is none of this name")
    role: Literal["trainee", "instructor", "operator", "service"]
    label: Line | None = Field(default=None, min_length=1, description="what the key is for")
    scopes: list[str] | None = Field(
        default=None, max_length=64, description="all it may be used for; by default whatever its role may do"
    )
    expires_in_s: int | None = Field(default=None, ge=60, le=315_360_000, description="by default never")


class _Asked(BaseModel):
    """A query string; every value of it is text."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Limit = Annotated[int, Field(ge=1, le=100)]


class VersionQuery(_Asked):
    version: int | None = Field(default=None, ge=1, le=_MAX_INT)


class PageQuery(_Asked):
    limit: Limit = 20
    cursor: str | None = None


class SessionsQuery(PageQuery):
    drill_id: str | None = None
    trainee_id: str | None = None
    state: Literal["open", "closed"] | None = None


class DocumentQuery(_Asked):
    name: Line | None = Field(default=None, description="the document's name, where the body is not JSON")


class FollowQuery(_Asked):
    """What a page cannot say in a header."""

    ticket: str | None = Field(default=None, description="a stream ticket, in place of the Authorization header")
    last_event_id: str = Field(default="", description="the id of the last event that was read; the header comes first")


class PlanQuery(_Asked):
    hours: int = Field(default=8, ge=1, le=168, description="how far ahead")


class NoQuery(_Asked):
    """A route that takes no query at all."""
