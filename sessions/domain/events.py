"""The events of one turn, and their places.

A place is a number: 1 for the acceptance, 1 + n for the delta that ends at the n-th character of the reply, 2 +
length for the end. It says how much of the reply a reader has, so a reader who got lost can go on exactly there: from
the running turn, or from the stored one, in any process, and whatever the cut into deltas was.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from sessions.domain.moderation import BlockReason
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
class Blocked:
    reason: BlockReason


@dataclass(frozen=True, slots=True)
class Failed:
    error: TurnError


Terminal = Done | Cancelled | Blocked | Failed
TurnEvent = Accepted | Delta | Terminal

ACCEPTED_PLACE = 1


def characters_before(place: int) -> int:
    """How much of the reply a reader at this place has."""
    return max(0, place - ACCEPTED_PLACE)


def delta_place(characters: int) -> int:
    """The place of the delta after which `characters` of the reply are delivered."""
    return ACCEPTED_PLACE + characters


def terminal_place(characters: int) -> int:
    """The place of the terminal event of a reply of this length."""
    return ACCEPTED_PLACE + characters + 1


def terminal(turn: Turn) -> Terminal:
    """The terminal event of a finished turn."""
    match turn.state:
        case TurnState.COMPLETED:
            return Done(turn)
        case TurnState.CANCELLED:
            return Cancelled()
        case TurnState.BLOCKED:
            return Blocked(turn.moderation.blocked or BlockReason.UNCHECKED)
        case TurnState.FAILED:
            return Failed(turn.error or TurnError("turn_failed", "the turn failed", retryable=True))
        case never:
            assert_never(never)


def replay(turn: Turn, *, after: int = 0) -> Iterator[tuple[int, TurnEvent]]:
    """The events of a finished turn behind a place, with their places: what is left of the reply comes in one piece."""
    length = len(turn.reply)
    had = characters_before(after)
    if after < ACCEPTED_PLACE:
        yield ACCEPTED_PLACE, Accepted(turn.session, turn.number, turn.replica)
    if had < length:
        yield delta_place(length), Delta(turn.reply[had:])
    if after < terminal_place(length):
        yield terminal_place(length), terminal(turn)
