"""Lets the trainees play while the servers are watched and broken, and ends them when nothing more can come."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from loadtests.conduct.bell import Bell
from loadtests.conduct.breaker import Breaker
from loadtests.conduct.locust_process import LocustProcess
from loadtests.conduct.progress import Progress
from loadtests.conduct.watch import Watch

_LOOK_EVERY_S = 0.2
_TELL_EVERY_S = 5.0
_STILL_S = 60.0
"""In real seconds, beyond what a turn may take: so long nothing comes before trainees count as stuck."""
_TIMES_LONGER = 3.0
"""A drill may take so many times what its timetable says: whoever is that late has failed by then."""


@dataclass(frozen=True, slots=True)
class Played:
    exit_code: int | None
    """Locust's own; None: it was ended by us."""
    cut: str | None = None
    """Why it did not come to its end."""
    is_interrupted: bool = False
    last_words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long is waited: `length_s` until the timetable ends, `timeout_s` for one turn, in drill seconds."""

    bell: Bell
    length_s: float
    timeout_s: float

    def is_over(self, *, still_s: float) -> str | None:
        """Why no more is waited for, when nothing has come for so many real seconds."""
        late_s = self.bell.now_s() - self.length_s
        real_timeout_s = self.timeout_s / self.bell.speed_up
        if late_s > 0 and still_s > _STILL_S + real_timeout_s:
            return f"nothing came for {still_s:.0f} s, {late_s:.0f} s after the end of the timetable"
        if late_s > (_TIMES_LONGER - 1) * self.length_s + self.timeout_s + _STILL_S * self.bell.speed_up:
            return f"it was not through {late_s:.0f} s after the end of the timetable"
        return None


def play(
    locust: LocustProcess,
    *,
    watch: Watch,
    breaker: Breaker,
    progress: Progress,
    patience: Patience,
    say: Callable[[str], None],
) -> Played:
    try:
        with watch, locust, breaker.running():
            watch.own = {"locust": locust.pid}
            cut = _followed(locust, progress, patience, say)
            code = locust.exit_code if cut is None else None
            return Played(code, cut, last_words=locust.last_words())
    except KeyboardInterrupt:
        return Played(None, "it was interrupted", is_interrupted=True)


def _followed(locust: LocustProcess, progress: Progress, patience: Patience, say: Callable[[str], None]) -> str | None:
    """Until it has ended, None; or until it has to be ended, and why."""
    tell_at = moved_at = time.monotonic()
    while locust.exit_code is None:
        time.sleep(_LOOK_EVERY_S)
        now = time.monotonic()
        if progress.follow() or patience.bell.now_s() < 0:
            moved_at = now
        if cut := patience.is_over(still_s=now - moved_at):
            return cut
        if now - tell_at >= _TELL_EVERY_S:
            say(progress.told())
            tell_at = now
    progress.follow()
    say(progress.told())
    return None
