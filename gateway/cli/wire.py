"""What the public API answers, as a caller reads it; members that are not named here are left alone."""

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


Item = TypeVar("Item", bound=Answer)


class Page(Answer, Generic[Item]):
    """A part of a list; with a cursor there is more behind it."""

    items: tuple[Item, ...]
    next_cursor: str | None = None


class ScenarioLimits(Answer):
    max_turns: int | None = None


class ScenarioView(Answer):
    id: str
    title: str
    locale: str
    limits: ScenarioLimits | None = None


class SessionView(Answer):
    id: str
    scenario_id: str
    state: str
    turn_count: int
    opening: str


class UsageView(Answer):
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0


class TurnView(Answer):
    turn: int
    state: str
    text: str
    reply: str


class BlockView(Answer):
    kind: str
    tokens: int
    from_turn: int | None = None
    to_turn: int | None = None


class ContextView(Answer):
    """How the next prompt is built."""

    window_tokens: int
    prompt_tokens: int
    blocks: tuple[BlockView, ...]


class FieldFault(Answer):
    field: str
    detail: str


class Problem(Answer):
    """An error answer (RFC 9457)."""

    title: str = ""
    detail: str = ""
    code: str = ""
    errors: tuple[FieldFault, ...] = ()


class Accepted(Answer):
    session_id: str
    turn: int
    replica: str | None = None


class Delta(Answer):
    text: str


class Done(Answer):
    turn: int
    finish_reason: str | None = None
    usage: UsageView = UsageView()
    replica: str | None = None
    continued: bool = False


class Blocked(Answer):
    reason: str = ""


class Cancelled(Answer):
    pass


class Failed(Answer):
    code: str
    message: str = ""
    retryable: bool = False


Terminal = Done | Blocked | Cancelled | Failed
TurnEvent = Accepted | Delta | Terminal

EVENT_OF: dict[str, type[Accepted | Delta | Done | Blocked | Cancelled | Failed]] = {
    "accepted": Accepted,
    "delta": Delta,
    "done": Done,
    "blocked": Blocked,
    "cancelled": Cancelled,
    "error": Failed,
}
