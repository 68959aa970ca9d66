"""Breaks what a drill wants broken, at its time, and tells when it answers again."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import httpx

from loadtests.conduct.breaking import Answers, NotBroken, Scene, broken, meant
from loadtests.conduct.faults import Fault, FaultKind
from loadtests.conduct.stack import StackFailed
from loadtests.domain.server import Event, EventKind

_ASK_EVERY_S = 0.1
_JOIN_S = 15.0


class Breaker:
    """`clock` counts drill seconds since the bell; `tell` is called by threads of ours, one for each fault.

    `failures` says of each fault that could not be caused, why.
    """

    def __init__(
        self,
        faults: Sequence[Fault],
        scene: Scene,
        *,
        clock: Callable[[], float],
        speed_up: float,
        tell: Callable[[Event], None],
    ) -> None:
        self._faults = faults
        self._scene = scene
        self._clock = clock
        self._speed_up = speed_up
        self._tell = tell
        self._over = threading.Event()
        self._due: list[Fault] = []
        """Neither caused yet nor known to be impossible."""
        self.failures: list[str] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Faults happen inside; at the end what still stands is let go on, and what was not due is left alone."""
        threads = [threading.Thread(target=self._carry_out, args=(fault,), daemon=True) for fault in self._faults]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join(_JOIN_S)
            self.failures += [f"{fault}: it did not happen" for fault in self._due]

    def _carry_out(self, fault: Fault) -> None:
        if self._over.wait(max(0.0, fault.at_s - self._clock()) / self._speed_up):
            return
        self._due.append(fault)
        try:
            self._break(fault)
        except (NotBroken, StackFailed, httpx.HTTPError, OSError) as error:
            self._over_with(fault)
            self.failures.append(f"{fault}: {error}")

    def _break(self, due: Fault) -> None:
        fault = meant(due, self._scene)
        with broken(fault, self._scene) as answers:
            began = self._clock()
            self._say(EventKind.FAULT, fault, str(fault.kind), at_s=began)
            self._over_with(due)
            self._over.wait(fault.lasts_s / self._speed_up)
        self._await_answer(fault, answers, began)

    def _over_with(self, fault: Fault) -> None:
        with suppress(ValueError):
            self._due.remove(fault)

    def _await_answer(self, fault: Fault, answers: Answers, began: float) -> None:
        while not answers():
            if self._over.wait(_ASK_EVERY_S):
                return
        now = self._clock()
        self._say(EventKind.MENDED, fault, f"{fault.kind} after {now - began:.1f} s", at_s=now)

    def _say(self, kind: EventKind, fault: Fault, note: str, *, at_s: float) -> None:
        told = EventKind.DEED if fault.kind is FaultKind.LATE_BOOKING else kind  # it breaks nothing
        self._tell(Event(at_s=at_s, kind=told, target=fault.target, note=note))
