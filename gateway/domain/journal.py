"""What processes tell each other of running turns: who runs which, what was released so far, who reads, who stops."""

from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256

from sessions.domain.events import Done, Failed, Terminal
from sessions.domain.session import SessionId
from sessions.domain.turn import IdempotencyKey, TurnError

TURN_LOST = Failed(
    TurnError("turn_lost", "the process that ran the turn was lost before its end; nothing was stored", retryable=True)
)


@dataclass(frozen=True, slots=True)
class Head:
    """One attempt at a turn. A turn that was lost or has failed may be tried again under its number."""

    session: SessionId
    turn: int
    attempt: str
    owner: str
    """The process that runs it."""
    replica: str | None
    pin: str | None
    idempotency: IdempotencyKey | None = None
    """The caller's key as a digest."""


class Mode(StrEnum):
    """How a page is written."""

    OPEN = "open"
    """The attempt begins: whatever was kept of an earlier one goes."""
    APPEND = "append"
    """Behind what is there."""
    AGAIN = "again"
    """From the beginning, since the store has lost it; but not in the place of a later attempt."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is to be added to a kept journal: text that ends with the `end`-th character of the reply, or its end."""

    head: Head
    mode: Mode
    end: int
    text: str
    terminal: Terminal | None


class Outcome(StrEnum):
    """What became of a page."""

    KEPT = "kept"
    GONE = "gone"
    """There is nothing to append to."""
    REPLACED = "replaced"
    """Another attempt has the place."""


@dataclass(frozen=True, slots=True)
class KeptJournal:
    head: Head
    text: str
    terminal: Terminal | None


@dataclass(frozen=True, slots=True)
class Passage:
    """Text of an attempt that ends with its `end`-th character; its terminal event, if that is known."""

    session: SessionId
    turn: int
    attempt: str
    end: int
    text: str
    terminal: Terminal | None


@dataclass(frozen=True, slots=True)
class Place:
    """An attempt, and how many characters of it somebody has."""

    session: SessionId
    turn: int
    attempt: str
    had: int


@dataclass(frozen=True, slots=True)
class Watch:
    """`sender` has readers of these turns; said again and again while it has."""

    sender: str
    turns: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """`sender` has no readers of these turns any more."""

    sender: str
    turns: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop this attempt."""

    session: SessionId
    turn: int
    attempt: str


@dataclass(frozen=True, slots=True)
class News:
    """To who watches: what was released since."""

    passages: tuple[Passage, ...]


Letter = Watch | Leave | Cancel | News


def digested(key: IdempotencyKey | None) -> IdempotencyKey | None:
    """The key without the caller's own words."""
    return key and replace(key, key=sha256(key.key.encode()).hexdigest())


def told(terminal: Terminal) -> Terminal:
    """A terminal event without what nobody but the record need know: the reply, which went before, and the trainee's
    words, unless they were masked: who asks again with the same words does not know what became of them."""
    if isinstance(terminal, Done):
        text = terminal.turn.text if terminal.turn.moderation.masks_message else ""
        return Done(replace(terminal.turn, text=text, reply="", idempotency=None))
    return terminal


def heard(terminal: Terminal, reply: str) -> Terminal:
    """The same with the reply that went before."""
    return Done(replace(terminal.turn, reply=reply)) if isinstance(terminal, Done) else terminal
