"""The router's settings; units stand in the names."""

from pydantic import BaseModel, ConfigDict, Field


class RouterSettings(BaseModel):
    """Handed to the router by the wiring."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connect_timeout_s: float = Field(default=2.0, gt=0, le=60)
    answer_timeout_s: float = Field(
        default=10.0, gt=0, le=600, description="from the request to the status line, which vLLM sends before any work"
    )
    first_byte_timeout_s: float = Field(
        default=30.0, gt=0, le=600, description="from the request to the first token; long queues count"
    )
    chunk_timeout_s: float = Field(default=20.0, gt=0, le=600, description="between two tokens")
    total_timeout_s: float = Field(default=300.0, gt=0, le=3600, description="one whole reply")
    max_attempts: int = Field(default=2, ge=1, le=5, description="replicas asked for one turn before the first byte")
    probe_interval_s: float = Field(default=2.0, gt=0, le=60)
    probe_timeout_s: float = Field(default=2.0, gt=0, le=60)
    pin_ttl_s: int = Field(default=86_400, ge=60, description="a pin nobody used for so long is forgotten")
    retry_after_s: float = Field(default=2.0, gt=0, description="told to the caller when no replica is ready")
