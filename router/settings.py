"""The router's settings; units stand in the names."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from router.domain.pin import PinMode


class EngineKind(StrEnum):
    """What the replicas are, which decides what may be asked of them."""

    VLLM = "vllm"
    OPENAI = "openai"
    """Any server that speaks the OpenAI API: no token ids, no metrics, no counting of tokens."""


class RouterSettings(BaseModel):
    """Handed to the router by the wiring."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: EngineKind = Field(default=EngineKind.VLLM, description="what the replicas are: vllm or openai")

    connect_timeout_s: float = Field(default=2.0, gt=0, le=60)
    answer_timeout_s: float = Field(
        default=10.0, gt=0, le=600, description="from the request to the status line, which vLLM sends before any work"
    )
    first_byte_timeout_s: float = Field(
        default=30.0, gt=0, le=600, description="from the request to the first token; long queues count"
    )
    chunk_timeout_s: float = Field(default=20.0, gt=0, le=600, description="between two tokens")
    total_timeout_s: float = Field(default=300.0, gt=0, le=3600, description="one whole reply")
    lost_after_s: float = Field(
        default=5.0,
        gt=0,
        le=3600,
        description="a whole answer is asked for elsewhere once its replica has not been ready for so long",
    )

    max_attempts: int = Field(default=3, ge=1, le=10, description="replicas asked for one turn, continuations included")
    retry_share: float = Field(
        default=0.2, ge=0, le=1, description="second requests per first request, over the pool, before retries stop"
    )
    retry_floor: int = Field(
        default=20, ge=0, le=10_000, description="second requests that are always allowed, per 10 s"
    )
    continue_replies: bool | None = Field(
        default=None,
        description="continue a reply whose replica was lost at another one; unless told, only if the engine is vllm",
    )
    token_ids: bool = Field(default=True, description="ask vLLM for token ids, so that a continuation is exact")

    breaker_failures: int = Field(default=3, ge=1, le=100, description="failures in a row that open a breaker")
    breaker_open_s: float = Field(default=5.0, gt=0, le=600, description="then one request tries it again")

    probe_interval_s: float = Field(default=2.0, gt=0, le=60)
    probe_timeout_s: float = Field(default=2.0, gt=0, le=60)
    canary_interval_s: float = Field(
        default=15.0, ge=0, le=3600, description="one token asked of each replica; 0: never"
    )
    canary_timeout_s: float = Field(default=10.0, gt=0, le=600)

    pin_ttl_s: int = Field(default=86_400, ge=60, description="a pin nobody used for so long is forgotten")
    pin_mode: PinMode = Field(default=PinMode.SOFT, description="soft: a pin gives way when its replica is full; hard")
    cohort_bound: float = Field(
        default=1.05,
        ge=1,
        le=10,
        description="how far above the mean load a replica that holds the prefix is preferred",
    )

    max_in_flight: int = Field(default=256, ge=1, le=100_000, description="turns at one replica at a time")
    kv_share: float = Field(
        default=1.0,
        gt=0,
        le=10,
        description="KV of turns at one replica at a time, as a share of its cache where known",
    )
    engine_priority: bool = Field(
        default=False, description="tell vLLM the priority of a call; it needs --scheduling-policy priority there"
    )
    queue_length: int = Field(default=1_000, ge=0, le=100_000, description="turns that wait for room, in this process")
    queue_timeout_s: float = Field(default=10.0, ge=0, le=600, description="how long a turn waits for room")

    prewarm_share: float = Field(default=0.25, ge=0, le=1, description="prewarms at a replica, as a share of its turns")
    prompt_memory_bytes: int = Field(
        default=33_554_432, ge=0, description="last prompts kept for moving sessions warm; the oldest go first"
    )
    drain_deadline_s: float = Field(default=120.0, gt=0, le=86_400, description="how long a drain waits unless told")
    board_interval_s: float = Field(default=0.5, gt=0, le=2.5, description="how often orders for the fleet are read")

    retry_after_s: float = Field(default=2.0, gt=0, description="told to the caller when no replica is ready")

    @property
    def may_continue(self) -> bool:
        """A server that does not know `continue_final_message` begins anew, which looks like a continuation."""
        return self.engine is EngineKind.VLLM if self.continue_replies is None else self.continue_replies
