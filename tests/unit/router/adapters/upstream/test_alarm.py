"""An alarm rings once, in time, and does not take a loop that was held up for a silent peer."""

import asyncio
from collections.abc import Callable

from typing_extensions import override

from router.adapters.upstream.alarm import Alarm


class HandLoop(asyncio.AbstractEventLoop):
    """A loop whose clock is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers: list[asyncio.TimerHandle] = []
        self.made = 0

    @override
    def time(self) -> float:
        return self.now

    @override
    def get_debug(self) -> bool:
        return False

    @override
    def call_at(self, when: float, callback: Callable[..., object], *args: object, **_: object) -> asyncio.TimerHandle:
        self.made += 1
        self.timers.append(asyncio.TimerHandle(when, callback, args, self))
        return self.timers[-1]

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        self.timers.remove(handle)

    def go_to(self, moment: float, *, late_s: float = 0.0) -> None:
        """Let the time pass, timer by timer, each late by so much."""
        while due := [timer for timer in self.timers if timer.when() <= moment]:
            self.timers.remove(due[0])
            self.now = max(self.now, due[0].when() + late_s)
            due[0]._run()
        self.now = max(self.now, moment)


def alarm() -> tuple[HandLoop, Alarm, list[float]]:
    loop, rung = HandLoop(), list[float]()  # type: ignore[abstract]
    made = Alarm(loop)
    made.serve(lambda: rung.append(loop.now))
    return loop, made, rung


def test_it_rings_once_at_its_moment() -> None:
    loop, at, rung = alarm()
    at.set(110)
    loop.go_to(109)
    assert rung == []
    loop.go_to(200)
    assert rung == [110]


def test_moving_it_later_takes_no_timer() -> None:
    loop, at, rung = alarm()
    for moment in range(110, 120):
        at.set(moment)
    assert loop.made == 1
    loop.go_to(200)
    assert (rung, loop.made) == ([119], 2)


def test_moving_it_earlier_takes_another() -> None:
    loop, at, rung = alarm()
    at.set(130)
    at.set(105)
    loop.go_to(200)
    assert (rung, loop.timers) == ([105], [])


def test_it_is_stopped_for_good_also_twice() -> None:
    loop, at, rung = alarm()
    at.set(110)
    at.stop()
    at.stop()
    assert loop.timers == []
    at.set(130)
    loop.go_to(200)
    assert rung == []


def test_a_loop_that_was_held_up_looks_once_more_first() -> None:
    loop, at, rung = alarm()
    at.set(110)
    loop.timers[0]._run()  # too early, as some loops are by less than a millisecond
    loop.timers.pop(0)
    loop.now = 115
    loop.timers.pop()._run()
    assert rung == []
    at.set(135)  # what came in meanwhile
    loop.go_to(200)
    assert rung == [135]


def test_it_rings_after_the_second_look_however_late() -> None:
    loop, at, rung = alarm()
    at.set(110)
    loop.go_to(200, late_s=5)
    assert rung == [120.01]
    at.set(205)
    loop.go_to(300)
    assert len(rung) == 2
