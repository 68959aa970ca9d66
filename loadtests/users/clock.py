"""The one clock of a drill: drill seconds since the bell, the same in every worker of this machine."""

import time

import gevent


class DrillClock:
    """The bell is an instant of the wall clock; from then on this process's own clock counts, which nobody sets."""

    def __init__(self, *, bell_at: float, speed_up: float) -> None:
        self.bell_at = bell_at
        self._bell = time.perf_counter() + bell_at - time.time()
        self._speed_up = speed_up

    def at(self, stamp: float) -> float:
        """In drill seconds; `stamp` is one of `time.perf_counter`."""
        return (stamp - self._bell) * self._speed_up

    def now(self) -> float:
        return self.at(time.perf_counter())

    def real(self, drill_s: float) -> float:
        """So many real seconds are so many of the drill."""
        return drill_s / self._speed_up

    def drill(self, real_s: float) -> float:
        return real_s * self._speed_up

    def wait_until(self, at_s: float) -> None:
        """Never less: a timer counts from when its loop last looked at the clock, and may so end early."""
        while (left_s := self.real(at_s - self.now())) > 0:
            gevent.sleep(left_s)
