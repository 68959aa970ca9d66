"""What goes on while Postgres or Redis is away, and for how long nobody waits for them; units stand in the names."""

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class SpoolKind(StrEnum):
    """Where finished turns wait for Postgres."""

    REDIS = "redis"
    """In Redis, for every process; while that is away too, in this process."""
    LOCAL = "local"
    """In this process alone."""
    OFF = "off"
    """Nowhere: a turn that cannot be written has failed."""


class RecordsSettings(BaseModel):
    """Postgres."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    spool: SpoolKind = Field(default=SpoolKind.REDIS, description="where finished turns wait for Postgres")
    spool_turns: int = Field(default=10_000, ge=1, le=1_000_000, description="most turns that wait")
    spool_bytes: int = Field(default=67_108_864, ge=65_536, le=4_294_967_296, description="most bytes that wait")
    spool_folder: Path | None = Field(
        default=None, description="this process keeps its own waiting turns in a file there; by default in memory alone"
    )
    drain_interval_s: float = Field(default=1.0, gt=0, le=60, description="how often waiting turns are tried again")
    patience_s: float = Field(
        default=2.0, gt=0, le=30, description="Postgres is away once it leaves a question unanswered so long"
    )


class RedisSettings(BaseModel):
    """Redis."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    patience_s: float = Field(
        default=0.25, gt=0, le=10, description="Redis is away once it leaves a question unanswered so long"
    )
    ask_interval_s: float = Field(default=0.1, gt=0, le=10, description="how often it is asked whether it answers")
