"""One generation as the simulated engine sees it: tokens in, tokens out, and what it cost."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

RequestId = NewType("RequestId", str)


class FinishReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class Generation:
    """A request that has been accepted. `output` is what the model will say, decided beforehand; `max_tokens` may cut
    it.

    Cached prefixes are found by token ids, so `prompt` must be those of the rendered prompt. Requests with different
    `salt` never share a block. Lower `priority` goes first where the engine schedules by priority. No two requests that
    are open at the same time may have the same `id`.
    """

    id: RequestId
    prompt: tuple[int, ...]
    output: tuple[int, ...]
    max_tokens: int
    salt: str = ""
    priority: int = 0
    finish_reason: FinishReason = FinishReason.STOP
    """How the output ends by itself; LENGTH when `max_tokens` cut it. With STOP the last token of `output` is the
    model's end token, which counts and shows no text."""
    reads_cache: bool = True
    """False computes the whole prompt anew, as `prompt_logprobs` does; what it computes is cached all the same."""


@dataclass(frozen=True, slots=True)
class Life:
    """One finished request: its tokens, and in simulated seconds when it came, was scheduled, spoke first and ended."""

    reason: FinishReason
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    max_tokens: int
    preemptions: int
    arrived_s: float
    scheduled_s: float
    first_token_s: float
    ended_s: float

    @property
    def queue_s(self) -> float:
        return self.scheduled_s - self.arrived_s

    @property
    def to_first_token_s(self) -> float:
        return self.first_token_s - self.arrived_s

    @property
    def prefill_s(self) -> float:
        return self.first_token_s - self.scheduled_s

    @property
    def decode_s(self) -> float:
        return self.ended_s - self.first_token_s

    @property
    def inference_s(self) -> float:
        return self.ended_s - self.scheduled_s

    @property
    def whole_s(self) -> float:
        return self.ended_s - self.arrived_s

    @property
    def per_output_token_s(self) -> float:
        """0 for a reply of one token, as vLLM counts it."""
        return self.decode_s / (self.generated_tokens - 1) if self.generated_tokens > 1 else 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """What one engine step did for one generation: `tokens` are new output tokens, usually one."""

    id: RequestId
    tokens: tuple[int, ...] = ()
    finished: FinishReason | None = None
    cached_tokens: int = 0
    """Prompt tokens taken from the prefix cache; known from the first token on."""
    life: Life | None = None
    """With the last progress of a generation that finished by itself."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the engine: how long it took in simulated seconds, and what came of it."""

    duration_s: float
    progress: tuple[Progress, ...] = ()
    preempted: tuple[RequestId, ...] = field(default=())
    died_of: str | None = None
    """Set when the step ended the engine, as running out of memory does."""
