"""A scenario: a versioned role-play, frozen once it is written."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NewType
from uuid import UUID

from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.outline import NO_OUTLINE, Outline, check_outline
from sessions.domain.tiers import Tier
from sessions.domain.viewer import AccountId, TenantId
from sessions.errors import ScenarioInvalid

ScenarioId = NewType("ScenarioId", UUID)

MAX_SCENES = 20
MAX_CRITERIA = 30
MAX_TURNS = 200


@dataclass(frozen=True, slots=True)
class Scene:
    """A part of the role-play; `script` tells the tutor what happens in it."""

    name: str
    script: str


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing a trainee is judged by."""

    name: str
    description: str
    weight: float = 1.0
    blocker: bool = False
    """Failing it fails the whole, whatever the sum says."""


@dataclass(frozen=True, slots=True)
class Rubric:
    criteria: tuple[Criterion, ...] = ()
    pass_mark: float = 0.6
    """Share of the weighted total, 0..1."""


@dataclass(frozen=True, slots=True)
class ScenarioContent:
    """What an instructor writes; everything a prompt or a score is made of."""

    title: str
    locale: str
    persona: str
    instructions: str
    opening: str
    scenes: tuple[Scene, ...]
    rubric: Rubric = field(default_factory=Rubric)
    max_turns: int = 50
    max_reply_tokens: int | None = None
    """None: the server's own cap."""
    knowledge_base: KnowledgeBaseId | None = None
    """Where the background of each message is looked up."""
    guidance: str = ""
    """How the tutor is to use that base, as the base said when this version was written."""
    tiers: tuple[tuple[Tier, str], ...] = ()
    """Models that serve this scenario's work instead of those of its tenant."""
    is_sensitive: bool = False
    """Whether all its work is sensitive work, whatever its kind, and must not leave the pool of that."""
    outline: Outline = NO_OUTLINE
    """What the tutor's replies are to say, and what they must not."""

    def tier_of(self, work: Tier) -> Tier:
        return Tier.SENSITIVE if self.is_sensitive else work


@dataclass(frozen=True, slots=True)
class Scenario:
    """One version of a scenario; `latest_version` tells whether there is a newer one."""

    id: ScenarioId
    tenant: TenantId
    version: int
    latest_version: int
    content: ScenarioContent
    created_by: AccountId
    created_at: datetime


@dataclass(frozen=True, slots=True)
class BlockLimits:
    """The most tokens of each block of a prompt."""

    system: int
    script: int
    opening: int
    reply: int


def checked(content: ScenarioContent) -> ScenarioContent:
    """The content, if it can be played; raises `ScenarioInvalid` with the field otherwise."""
    for name in ("title", "persona", "opening"):
        if not getattr(content, name).strip():
            raise ScenarioInvalid(name, f"{name} is empty")
    if not 1 <= len(content.scenes) <= MAX_SCENES:
        raise ScenarioInvalid("scenes", f"a scenario has 1 to {MAX_SCENES} scenes, this one {len(content.scenes)}")
    if not 1 <= content.max_turns <= MAX_TURNS:
        raise ScenarioInvalid("limits.max_turns", f"a session has 1 to {MAX_TURNS} turns, not {content.max_turns}")
    _unique("scenes", [scene.name for scene in content.scenes])
    _check_rubric(content.rubric)
    check_outline(content.outline)
    return content


def sized(content: ScenarioContent, limits: BlockLimits, count: Callable[[str], int]) -> ScenarioContent:
    """The content, if each block keeps to its share of the window; raises `ScenarioInvalid` with the counts
    otherwise."""
    whole = (
        "persona, instructions and the guidance of the knowledge base"
        if content.guidance
        else "persona and instructions"
    )
    _fits("instructions", f"{whole} have", count(system_block(content)), limits.system)
    _fits("opening", "the opening line has", count(content.opening.strip()), limits.opening)
    for scene in content.scenes:
        _fits("scenes", f"the script of scene {scene.name!r} has", count(scene.script.strip()), limits.script)
    if content.max_reply_tokens is not None and not 1 <= content.max_reply_tokens <= limits.reply:
        raise ScenarioInvalid(
            "limits.max_reply_tokens", f"a reply has 1 to {limits.reply} tokens here, not {content.max_reply_tokens}"
        )
    return content


def system_block(content: ScenarioContent) -> str:
    """Persona, instructions and guidance: a function of the scenario version alone, without a date or a name."""
    parts = (content.persona, content.instructions, content.guidance)
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _fits(field_name: str, subject: str, tokens: int, limit: int) -> None:
    if tokens > limit:
        raise ScenarioInvalid(field_name, f"{subject} {tokens} tokens, and at most {limit} are allowed")


def _check_rubric(rubric: Rubric) -> None:
    if len(rubric.criteria) > MAX_CRITERIA:
        raise ScenarioInvalid("rubric.criteria", f"at most {MAX_CRITERIA} criteria, not {len(rubric.criteria)}")
    if not 0 <= rubric.pass_mark <= 1:
        raise ScenarioInvalid("rubric.pass_mark", "the pass mark is a share between 0 and 1")
    if rubric.criteria and not any(criterion.weight > 0 for criterion in rubric.criteria):
        raise ScenarioInvalid("rubric.criteria", "no criterion has a weight above 0")
    _unique("rubric.criteria", [criterion.name for criterion in rubric.criteria])


def _unique(field_name: str, names: list[str]) -> None:
    for name in names:
        if not name.strip():
            raise ScenarioInvalid(field_name, "a name is empty")
    if len(set(names)) != len(names):
        raise ScenarioInvalid(field_name, "two have the same name")
