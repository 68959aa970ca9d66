"""Keeps servers running: looks at them, starts the dead again with growing patience, and gives up with a reason."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from gateway.local.adoption import reap_orphans
from gateway.local.children import Children, Service, ending
from gateway.local.errors import KeepsDying
from gateway.local.log_tail import last_meaningful_line
from gateway.local.process import Child
from gateway.local.restart_policy import WINDOW_S, GiveUp, Restart, after_death

_LOOK_EVERY_S = 0.1
_HOUSEKEEPING_EVERY_S = 2.0
_ASK_EVERY_S = 1.0
_REST_ENDS_WITHIN_S = 6.0  # an engine of vLLM needs four to remove its shared memory


@dataclass(slots=True)
class Watched:
    """A server with the child that runs it now, None while it waits for `due` to be started again.

    `dead` is the child before, whose descendants are given a moment to end by themselves.
    `ask_at` is when a child that was started again is next asked whether it is ready, None once it was.
    """

    service: Service
    child: Child | None
    deaths: tuple[float, ...] = ()
    due: float = field(default=0.0)
    dead: Child | None = None
    ask_at: float | None = None


class Watch:
    def __init__(
        self,
        *,
        children: Children,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._children = children
        self._say = say
        self._clock = clock
        self._watched: list[Watched] = []

    def add(self, service: Service, child: Child) -> None:
        self._watched.append(Watched(service, child))

    @property
    def pids(self) -> dict[str, int]:
        return {one.service.name: one.child.pid for one in self._watched if one.child is not None}

    def run(self, on_change: Callable[[Mapping[str, int]], None]) -> None:
        """Look, telling `on_change` the new numbers, until the stop signal or a server that keeps dying ends it."""
        kept_house = self._clock()
        while True:
            self._children.checkpoint()
            # A list, not a generator: every one is looked at, also after one was started again.
            restarted = [one for one in self._watched if self._looked_at(one)]
            if restarted:
                on_change(self.pids)
            if self._clock() - kept_house >= _HOUSEKEEPING_EVERY_S:
                kept_house = self._clock()
                self._children.note()
                reap_orphans(frozenset(child.pid for child in self._children.running))
            time.sleep(_LOOK_EVERY_S)

    def _looked_at(self, one: Watched) -> bool:
        """Whether it was started again."""
        if one.child is None:
            return self._started_again(one)
        code = one.child.exit_code()
        if code is not None:
            self._bury(one, one.child, code)
        elif one.ask_at is not None and self._clock() >= one.ask_at:
            self._ask(one, one.child)
        return False

    def _started_again(self, one: Watched) -> bool:
        late_s = self._clock() - one.due
        if late_s < 0 or (one.dead is not None and one.dead.leaves_somebody() and late_s < _REST_ENDS_WITHIN_S):
            return False
        if one.dead is not None:
            self._children.stop([one.dead])  # what is still left of its group goes now
        one.dead = None
        one.child = self._children.start(one.service.command)
        one.ask_at = self._clock() + _ASK_EVERY_S
        return True

    def _ask(self, one: Watched, child: Child) -> None:
        # One that does not answer holds up the watch as long as its probe waits, so it is not asked all the time.
        missing = self._children.lacks(one.service, child)
        one.ask_at = None if missing is None else self._clock() + _ASK_EVERY_S
        if missing is None:
            self._say(f"{one.service.name} is up again")

    def _bury(self, one: Watched, child: Child, code: int) -> None:
        child.ask_the_rest_to_stop()
        one.child, one.dead, one.ask_at = None, child, None
        now = self._clock()
        match after_death(one.deaths, now=now):
            case Restart(after_s, deaths):
                one.deaths, one.due = deaths, now + after_s
                self._say(f"{one.service.name} ended ({ending(code)}); starting it again in {after_s:g} s")
            case GiveUp(deaths):
                self._children.stop([child])
                log = one.service.command.log
                raise KeepsDying(
                    f"{one.service.name} ended {deaths} times within {WINDOW_S:.0f} s, the last time with "
                    f"{ending(code)}: {last_meaningful_line(log, since=child.log_began)}",
                    hint="look at its log, then start again",
                    log=log,
                )
            case never:
                assert_never(never)
