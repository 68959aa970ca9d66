"""The events of one turn, in the order a reader gets them."""

from dataclasses import dataclass

from sessions.domain.session import SessionId
from sessions.domain.turn import Turn, TurnError, TurnState


@dataclass(frozen=True, slots=True)
class Accepted:
    session: SessionId
    turn: int
    replica: str | None


@dataclass(frozen=True, slots=True)
class Delta:
    text: str


@dataclass(frozen=True, slots=True)
class Done:
    turn: Turn


@dataclass(frozen=True, slots=True)
class Cancelled:
    pass


@dataclass(frozen=True, slots=True)
class Failed:
    error: TurnError


Terminal = Done | Cancelled | Failed
TurnEvent = Accepted | Delta | Terminal


def ending(turn: Turn) -> Terminal:
    """The terminal event of a stored turn."""
    match turn.state:
        case TurnState.COMPLETED:
            return Done(turn)
        case TurnState.CANCELLED:
            return Cancelled()
        case TurnState.FAILED:
            return Failed(turn.error or TurnError("turn_failed", "the turn failed", retryable=True))


def replay(turn: Turn) -> tuple[TurnEvent, ...]:
    """The events of a stored turn as a late reader gets them: the whole reply in one piece."""
    text = (Delta(turn.reply),) if turn.reply else ()
    return (Accepted(turn.session, turn.number, turn.replica), *text, ending(turn))
