"""A turn: the trainee's message, the tutor's reply, and how it ended."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sessions.domain.citation import Citation
from sessions.domain.moderation import NOTHING_FOUND, Judgement
from sessions.domain.session import SessionId
from sessions.domain.tiers import Tier
from sessions.errors import IdempotencyKeyReused


class TurnState(StrEnum):
    """How a turn ended. A running turn is in no record; it is in its journal."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    """Stopped by its trainee; the reply is what was released until then."""
    FAILED = "failed"
    """The tutor broke; what was released is kept for the record and never shown to the tutor again."""
    BLOCKED = "blocked"
    """Stopped by moderation: its message, of which nothing is kept here and which no tutor saw, or its reply, which is
    what was released until then."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the engine counted them; nothing but zeros where it has told none."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds from acceptance: until the tutor was asked, until its first text, until the end."""

    queue_ms: float = 0.0
    ttft_ms: float | None = None
    e2e_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class TurnError:
    """Why a turn failed: a stable code, a sentence, and whether trying again makes sense."""

    code: str
    message: str
    retryable: bool


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A caller's own name for one request, with a digest of what it asked."""

    key: str
    digest: str

    def repeats(self, earlier: "IdempotencyKey") -> bool:
        """Whether it asks for the same thing again; raises `IdempotencyKeyReused` if it asks for another one."""
        if self.key != earlier.key:
            return False
        if self.digest != earlier.digest:
            raise IdempotencyKeyReused
        return True


@dataclass(frozen=True, slots=True)
class Turn:
    """One finished turn as it is stored. The concatenated deltas that were sent equal `reply`."""

    session: SessionId
    number: int
    state: TurnState
    text: str
    reply: str
    started_at: datetime
    ended_at: datetime
    text_tokens: int
    reply_tokens: int
    """Tokens of `text` and `reply` by the served model's tokenizer, without template overhead."""
    finish_reason: str | None = None
    usage: Usage = Usage()
    timings: Timings = Timings()
    replica: str | None = None
    continued: bool = False
    error: TurnError | None = None
    idempotency: IdempotencyKey | None = None
    scene: str = ""
    """The scene it was played in; empty in records from before scenes could change."""
    model: str = ""
    tier: Tier = Tier.ROLE_PLAY
    fell_back: bool = False
    """Whether another pool than the wanted one served it."""
    citations: tuple[Citation, ...] = ()
    """The pieces of knowledge that stood before its message."""
    moderation: Judgement = NOTHING_FOUND
    """What was found in the message as it was sent, and in the reply as the tutor said it; never the words."""

    @property
    def is_remembered(self) -> bool:
        """Whether the tutor is shown this turn again: a failed one never happened for it, an unanswered one neither."""
        return self.state is not TurnState.FAILED and bool(self.reply)
