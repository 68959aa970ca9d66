"""How long a request to a replica may be silent, phase by phase; knows no clock and sets no timer."""

from dataclasses import dataclass
from math import inf

_EVENT = b"data:"
_OVERLAP = len(_EVENT) - 1


@dataclass(frozen=True, slots=True)
class Limits:
    """The five time-outs of one request, in seconds; infinite where one does not apply."""

    connect_s: float
    total_s: float
    answer_s: float = inf
    """From the request to the status line."""
    first_event_s: float = inf
    """From the request to the first event."""
    event_s: float = inf
    """Between two events."""


class Patience:
    """Of one request. What counts as life is an event, that is, bytes with a `data:`; comments are not.

    Waits are counted from when somebody begins to wait: the slowness of the taker is not the replica's silence.
    """

    __slots__ = ("_answered", "_began", "_event", "_limits", "_next", "_tail", "end")

    def __init__(self, limits: Limits, *, now: float) -> None:
        self._limits = limits
        self._began = now
        self._answered = False
        self._event = False
        self._tail = b""
        self._next: float | None = now + min(limits.answer_s, limits.first_event_s)
        self.end = now + limits.total_s

    @property
    def connect_s(self) -> float:
        return min(self._limits.connect_s, self._limits.total_s)

    def is_blind_since(self, moment: float) -> bool:
        """Whether it began before that, and knows no silence that is too long."""
        return self._began <= moment and self._limits.event_s == inf

    def deadline(self, now: float) -> float:
        """When a wait that begins or goes on now has lasted too long."""
        if self._next is None:
            self._next = now + self._limits.event_s
        return self._next if self._next < self.end else self.end

    def was_answered(self) -> None:
        self._answered = True
        self._next = self._began + self._limits.first_event_s

    def had(self, data: bytes) -> None:
        """These bytes were handed to the taker. An event may be cut anywhere, also within its `data:`."""
        if _EVENT in data or _EVENT in self._tail + data[:_OVERLAP]:
            self._event = True
            self._next = None
        self._tail = (self._tail + data)[-_OVERLAP:] if len(data) < _OVERLAP else data[-_OVERLAP:]

    def complaint(self, now: float) -> str:
        """Which limit a wait that ends now went over."""
        limits = self._limits
        if now >= self.end:
            return f"the reply took longer than {limits.total_s:g} s"
        if self._event:
            return f"no token for {limits.event_s:g} s"
        if self._answered or limits.first_event_s < limits.answer_s:
            return f"no first token within {limits.first_event_s:g} s"
        return f"no answer within {limits.answer_s:g} s"
