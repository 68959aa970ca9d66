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
    `salt` never share a block. Lower `priority` goes first where the engine schedules by priority.
    """

    id: RequestId
    prompt: tuple[int, ...]
    output: tuple[int, ...]
    max_tokens: int
    salt: str = ""
    priority: int = 0
    finish_reason: FinishReason = FinishReason.STOP
    """How the output ends by itself; LENGTH when `max_tokens` cut it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What one engine step did for one generation: `tokens` are new output tokens, usually one."""

    id: RequestId
    tokens: tuple[int, ...] = ()
    finished: FinishReason | None = None
    cached_tokens: int = 0
    """Prompt tokens taken from the prefix cache; known from the first token on."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the engine: how long it took in simulated seconds, and what came of it."""

    duration_s: float
    progress: tuple[Progress, ...] = ()
    preempted: tuple[RequestId, ...] = field(default=())
    died_of: str | None = None
    """Set when the step ended the engine, as running out of memory does."""
