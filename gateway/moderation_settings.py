"""How moderation is kept up to date, and what holds for a tenant that has set nothing by itself."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gateway.domain.moderation.injection import Thresholds
from gateway.domain.moderation.policy import USUAL, Policy

Score = Annotated[float, Field(ge=0, le=2)]
"""No score is more than 1: what begins above it never happens."""


class ModerationSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    refresh_s: float = Field(
        default=1.0,
        gt=0,
        le=60,
        description="what another process puts in force is in force here within about twice this",
    )
    wait_s: float = Field(
        default=10.0, gt=0, le=60, description="a turn whose rules cannot be told after so long is refused"
    )
    most_phrases: int = Field(
        default=200_000,
        ge=1_000,
        description="of all lists that are ready for use in this process; 20,000 take about 35 MiB",
    )
    injection_flag: Score = USUAL.user.flag
    injection_block: Score = USUAL.user.block
    knowledge_flag: Score = USUAL.knowledge.flag
    knowledge_block: Score = USUAL.knowledge.block
    mask: str = Field(default=USUAL.mask, max_length=32, description="stands in place of a masked phrase")

    @model_validator(mode="after")
    def _flags_first(self) -> Self:
        for name in ("injection", "knowledge"):
            if getattr(self, f"{name}_flag") > getattr(self, f"{name}_block"):
                raise ValueError(f"{name}_flag is above {name}_block: nothing would be flagged")
        return self

    @property
    def policy(self) -> Policy:
        return Policy(
            user=Thresholds(self.injection_flag, self.injection_block),
            knowledge=Thresholds(self.knowledge_flag, self.knowledge_block),
            mask=self.mask,
        )
