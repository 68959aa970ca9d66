"""One timer that is moved often and rings seldom."""

import asyncio
from collections.abc import Callable
from math import inf

# A loop that was held up so long (or a process that was stopped) looks at its sockets before it blames the other side.
_HELD_UP_S = 0.05
_SECOND_LOOK_S = 0.01


class Alarm:
    """Rings once its moment has come. Moving it later costs nothing: the timer under it then finds itself too early.

    It serves one after the other; between them it rests, and its timer goes on for whoever comes next.
    """

    __slots__ = ("_at", "_has_looked", "_loop", "_ring", "_timer", "_timer_at")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._ring: Callable[[], None] = _nobody
        self._at = inf
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._has_looked = False

    def serve(self, ring: Callable[[], None]) -> None:
        self._ring = ring

    def set(self, at: float) -> None:
        self._at = at
        if self._timer is None or at < self._timer_at:
            self._start_timer(at)

    def rest(self) -> None:
        """Ring no more. It forgets whom to call, so that the two do not wait for the garbage collector."""
        self._ring = _nobody
        self._at = inf

    def stop(self) -> None:
        """Rest for good."""
        self.rest()
        self._cancel_timer()

    def _start_timer(self, at: float) -> None:
        self._cancel_timer()
        self._timer_at = at
        self._timer = self._loop.call_at(at, self._woke)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _woke(self) -> None:
        self._timer = None
        now = self._loop.time()
        if now < self._at:
            self._has_looked = False
            if self._at < inf:
                self._start_timer(self._at)
        elif now - self._timer_at > _HELD_UP_S and not self._has_looked:
            self._has_looked = True
            self._start_timer(now + _SECOND_LOOK_S)
        else:
            self._has_looked = False
            self._ring()


def _nobody() -> None:
    pass
