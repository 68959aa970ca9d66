"""The settings of turns that are followed from elsewhere, or by nobody."""

from pydantic import BaseModel, ConfigDict, Field


class JournalSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_s: float = Field(
        default=300.0, ge=10, le=86_400, description="a turn's journal stays in Redis so long after its end"
    )
    write_every_s: float = Field(
        default=0.2, gt=0, le=10, description="what is released is written to Redis at most this much later"
    )
    unread_grace_s: float = Field(
        default=30.0, gt=0, le=3600, description="a turn that nobody has read for so long is cancelled"
    )
