"""What a trainee heard of one turn, and what is wrong with it."""

from dataclasses import dataclass, field
from typing import assert_never

from gateway.cli.api_client import TimedEvent
from gateway.cli.wire import Accepted, Blocked, Cancelled, Delta, Done, Failed, Terminal, TurnView

FINISHED = ("stop", "length", "tool_calls")


@dataclass(frozen=True, slots=True)
class Fault:
    code: str
    message: str


@dataclass(slots=True)
class HeardTurn:
    """Grows with the events; moments are those of the events themselves."""

    replica: str | None = None
    pin: str | None = None
    number: int | None = None
    end: Terminal | None = None
    first_text_at: float | None = None
    ended_at: float | None = None
    fault: Fault | None = None
    """The first event that came out of its order."""
    _pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def take(self, timed: TimedEvent) -> None:
        event = timed.event
        self._check_order(event)
        match event:
            case Accepted():
                self.number = event.turn
                self.replica = event.replica or self.replica
            case Delta():
                self._take_text(event.text, timed.at)
            case Done():
                self.replica = event.replica or self.replica
                self._finish(event, timed.at)
            case Blocked() | Cancelled() | Failed():
                self._finish(event, timed.at)
            case never:
                assert_never(never)

    def _take_text(self, text: str, at: float) -> None:
        if text and self.first_text_at is None:
            self.first_text_at = at
        self._pieces.append(text)

    def _finish(self, end: Terminal, at: float) -> None:
        if self.end is None:
            self.end, self.ended_at = end, at

    def _check_order(self, event: Accepted | Delta | Terminal) -> None:
        if self.fault is not None:
            return
        if self.end is not None:
            self.fault = Fault("event_after_end", f"{type(event).__name__} came after the end of the turn")
        elif isinstance(event, Accepted) != (self.number is None):
            self.fault = Fault("event_order", f"{type(event).__name__} came at the wrong place")


def fault_of(heard: HeardTurn, *, expected_number: int) -> Fault | None:
    """What is wrong with the turn as it was streamed; None when it ended well."""
    match heard.end:
        case None:
            return heard.fault or Fault("no_terminal_event", "the stream ended without saying how the turn ended")
        case Failed(code=code, message=message):
            return Fault(code, message)
        case Blocked(reason=reason):
            return Fault("blocked", reason or "the turn was blocked")
        case Cancelled():
            return Fault("cancelled", "the turn was cancelled by somebody else")
        case Done() as done:
            return heard.fault or _fault_of_done(heard, done, expected_number)
        case never:
            assert_never(never)


def fault_of_record(heard: HeardTurn, stored: TurnView, *, said: str) -> Fault | None:
    """Where the record differs from what was said and heard; in lengths and places, never in words."""
    if stored.text != said:
        return Fault("text_differs", f"the stored message differs from what was said {_where(stored.text, said)}")
    if stored.reply != heard.text:
        return Fault("reply_differs", f"the stored reply differs from the deltas {_where(stored.reply, heard.text)}")
    if stored.state != "completed":
        return Fault("state_differs", f"a turn that was done is stored as {stored.state}")
    return None


def _fault_of_done(heard: HeardTurn, done: Done, expected_number: int) -> Fault | None:
    if not done.turn == heard.number == expected_number:
        return Fault("wrong_turn_number", f"turn {expected_number} was numbered {heard.number}, then {done.turn}")
    if done.finish_reason not in FINISHED:
        return Fault("no_finish_reason", f"done with finish_reason {done.finish_reason}")
    return None


def _where(stored: str, ours: str) -> str:
    shared = zip(stored, ours, strict=False)
    same = next((at for at, (left, right) in enumerate(shared) if left != right), min(len(stored), len(ours)))
    return f"at character {same} ({len(stored)} stored, {len(ours)} here)"
