"""What one trainee is to do in a drill: when, what, and in which manner."""

from dataclasses import dataclass
from enum import StrEnum


class Behaviour(StrEnum):
    STEADY = "steady"
    LEAVER = "leaver"
    RECONNECTING = "reconnecting"
    IMPATIENT = "impatient"
    HOSTILE = "hostile"


class Act(StrEnum):
    """How one message is sent."""

    TAKE = "take"
    """And its reply read to the end."""
    CUT = "cut"
    """Its stream is lost in mid-reply, and read on from the last event that was heard."""
    CANCEL = "cancel"
    """Its reply is stopped while it comes."""
    TWICE = "twice"
    """It is sent once more while its reply comes, under the same key: both must be one turn."""
    BESIDE = "beside"
    """Another message is sent while its reply comes: that one must be refused."""
    TOO_LONG = "too-long"
    """It does not fit into the window, and must be refused."""
    HOSTILE = "hostile"
    """It is no message, but a misdeed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    at_s: float
    """When the timetable has it, in drill seconds from the bell."""
    act: Act = Act.TAKE
    after: int = 0
    """Of an act in mid-reply: after so many pieces. Of a misdeed: which."""
    message_tokens: int | None = None
    """How long the message is to be; None: one of the usual lines."""
    reply_tokens: int | None = None
    """How long the reply may be; None: what the drill says."""
    blocks: tuple[int, ...] = ()
    """Of a trace: the blocks that the message is made of; equal ones are equal text."""
    block_tokens: int = 0
    """Of each but the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One session."""

    opens_s: float
    asks: tuple[Ask, ...]
    closes: bool = True
    """Whoever just leaves does not close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One trainee, or the place of one where whoever ends is followed by another: visits are made one after another."""

    trainee: int
    behaviour: Behaviour = Behaviour.STEADY
    visits: tuple[Visit, ...]
    waits: bool = True
    """For the end of a reply before the next message. Requests of a trace do not."""

    @property
    def asks(self) -> int:
        return sum(len(visit.asks) for visit in self.visits)

    @property
    def last_s(self) -> float:
        """When the last of it is planned."""
        return max((visit.asks[-1].at_s if visit.asks else visit.opens_s) for visit in self.visits)
