"""Whether a guard model judges what passes the rules, and what comes of what it says."""

from enum import StrEnum
from typing import Self

from pydantic import AnyHttpUrl, BaseModel, ConfigDict, Field, SecretStr, model_validator

from gateway.domain.moderation.guard import OTHER, UNNAMED, GuardPolicy
from gateway.domain.moderation.guard_formats import CATEGORIES, GuardKind
from sessions.domain.moderation import Verdict


class WhenAway(StrEnum):
    OPEN = "open"
    """What nobody can judge goes on, with a mark."""
    CLOSED = "closed"


class OutputMode(StrEnum):
    HOLD = "hold"
    """A sentence is released once it is judged."""
    FOLLOW = "follow"
    """Text is released at once, and what is judged to be unsafe ends the reply."""
    OFF = "off"


class GuardSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    url: AnyHttpUrl | None = Field(
        default=None, description="of a vLLM server, without /v1; by default there is no guard"
    )
    model: str = Field(default="", description="as the server lists it in /v1/models")
    kind: GuardKind = Field(default=GuardKind.QWEN3GUARD, description="whose answers it gives")
    key: SecretStr | None = Field(default=None, min_length=1, description="what the server wants as a bearer token")
    timeout_s: float = Field(default=2.0, gt=0, le=60, description="for one question, with the wait for its place")
    at_once: int = Field(default=32, ge=1, le=1024, description="questions under way; others wait")
    pause_s: float = Field(default=5.0, gt=0, le=300, description="so long a guard that was silent is not asked")
    when_away: WhenAway = WhenAway.OPEN
    output: OutputMode = OutputMode.HOLD
    input: bool = True
    unsafe: Verdict = Field(default=Verdict.BLOCK, description="what comes of what is unsafe")
    controversial: Verdict = Field(default=Verdict.FLAG, description="what comes of what is controversial")
    categories: dict[str, Verdict] = Field(
        default_factory=dict, description="what comes of these categories, whatever their level is"
    )

    @model_validator(mode="after")
    def _can_work(self) -> Self:
        if self.url is not None and not self.model:
            raise ValueError("model: a guard is asked by its model's name")
        known = {*CATEGORIES[self.kind], OTHER, UNNAMED}
        if unknown := sorted(set(self.categories) - known):
            raise ValueError(f"categories: {', '.join(unknown)}: a {self.kind} knows {', '.join(sorted(known))}")
        return self

    @property
    def policy(self) -> GuardPolicy:
        return GuardPolicy(self.unsafe, self.controversial, self.categories)
