"""Lets the engine's simulated seconds pass in real time, divided by the speed-up, and hands its tokens to who waits.

There is no task of its own: the event loop calls back when the step in progress ends, so an idle runner costs nothing.
Deadlines are absolute: a callback that comes late finds several steps due and ends them all, so lateness of the machine
does not add up. At high speed-ups steps that only continue replies are delivered a few at a time.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Protocol

from typing_extensions import override

from loadtests.simulator.domain.engine import Engine, QueueFull
from loadtests.simulator.domain.figures import Figures
from loadtests.simulator.domain.generation import FinishReason, Generation, Progress, RequestId

__all__ = ["EngineDead", "QueueFull", "Runner", "Stream"]

GRAIN_S = 0.004
"""Real seconds by which a token may be late that neither opens nor ends a reply."""
EARLY_S = 0.0005
"""Real seconds by which an event loop may call too early: some count in whole milliseconds."""


class EngineDead(Exception):
    """The engine is gone, and with it every request it had."""


class Cancellable(Protocol):
    def cancel(self) -> None: ...


class Timetable(Protocol):
    """What an event loop offers, and a clock in a test."""

    def time(self) -> float: ...

    def call_at(self, when: float, callback: Callable[[], None], /) -> Cancellable: ...


class Stream(AsyncIterator[Progress]):
    """What the engine says of one request. Ends after a `finished` item; raises EngineDead when the engine died."""

    def __init__(self, request: RequestId, *, abort: Callable[[RequestId], None]) -> None:
        self._request = request
        self._abort = abort
        self._said: asyncio.Queue[Progress | None] = asyncio.Queue()
        self._is_over = False

    @property
    def pending(self) -> int:
        """What was said and not yet listened to."""
        return self._said.qsize()

    def put(self, progress: Progress | None) -> None:
        """None: the engine died."""
        self._said.put_nowait(progress)

    @override
    async def __anext__(self) -> Progress:
        if self._is_over:
            raise StopAsyncIteration
        progress = await self._said.get()
        if progress is None:
            self._is_over = True
            raise EngineDead
        self._is_over = progress.finished is not None
        return progress

    async def aclose(self) -> None:
        """Abort the request, if it still runs."""
        self._is_over = True
        self._abort(self._request)


class Runner:
    """Speaks in real time what the engine computes in simulated time. Not for several threads."""

    def __init__(
        self,
        engine: Engine,
        *,
        speed_up: float = 1.0,
        timetable: Timetable | None = None,
        on_death: Callable[[str], None] | None = None,
    ) -> None:
        self._engine = engine
        self._speed_up = speed_up
        self._timetable = timetable
        self._on_death = on_death
        self._streams: dict[RequestId, Stream] = {}
        self._timer: Cancellable | None = None
        self._started_at = 0.0
        self._ticked_at = 0.0
        self._ends_s: float | None = None
        self._not_before_s = 0.0
        self._frozen_at_s: float | None = None
        self._sleep_level: int | None = None
        self._quiet = asyncio.Event()
        self._quiet.set()
        self.died_of: str | None = None

    async def start(self) -> None:
        self._timetable = self._timetable or asyncio.get_running_loop()
        self._started_at = self._timetable.time()

    async def stop(self) -> None:
        """What still runs ends as if the engine had died."""
        self._fail_all()

    @property
    def engine(self) -> Engine:
        return self._engine

    @property
    def now_s(self) -> float:
        """Simulated seconds since the start."""
        return self._simulated(self._clock.time())

    @property
    def open_requests(self) -> int:
        """Accepted, and neither finished nor aborted."""
        return len(self._streams)

    @property
    def slowdown(self) -> float:
        return self._engine.slowdown

    @slowdown.setter
    def slowdown(self, factor: float) -> None:
        self._engine.slowdown = factor

    def submit(self, generation: Generation, *, arrived_at: float | None = None) -> Stream:
        """Raises QueueFull, or EngineDead. `arrived_at` is the timetable's time when the request reached the server:
        what the simulator itself needed since then, which no speed-up divides, is not counted as the engine's."""
        if self.died_of is not None:
            raise EngineDead
        self._catch_up()
        at_s = self._simulated(self._clock.time() if arrived_at is None else arrived_at)
        self._engine.submit(generation, at_s=at_s)
        stream = Stream(generation.id, abort=self._abort)
        self._streams[generation.id] = stream
        self._quiet.clear()
        if self._ends_s is None:
            self._not_before_s = max(self._not_before_s, at_s)
            self._go_on()
        return stream

    def snapshot(self) -> Figures:
        self._catch_up()
        return replace(self._engine.figures, sleep_level=self._sleep_level)

    def freeze(self) -> None:
        """Nothing moves any more, and nobody is told: the step in progress does not end."""
        if self._frozen_at_s is None:
            self._catch_up()
            self._frozen_at_s = self.now_s
            self._disarm()

    def thaw(self) -> None:
        if self._frozen_at_s is None:
            return
        frozen_s, self._frozen_at_s = self.now_s - self._frozen_at_s, None
        self._not_before_s = self.now_s
        if self._ends_s is not None:
            self._ends_s = self._engine.postpone(frozen_s)
        self._go_on()

    def kill(self, reason: str = "killed") -> None:
        """The engine dies; every open request is told."""
        if self.died_of is None:
            self.died_of = reason
            self._fail_all()
            if self._on_death is not None:
                self._on_death(reason)

    def abort(self, request: RequestId) -> None:
        """One request ends with the reason `abort`, if it is still open."""
        self._catch_up()
        if request in self._streams:
            self._engine.abort(request)
            self._deliver(Progress(request, finished=FinishReason.ABORT))

    def abort_all(self) -> None:
        """Every open request ends with the reason `abort`."""
        self._catch_up()
        self._engine.abort_all()
        self._ends_s = None
        self._disarm()
        for request in tuple(self._streams):
            self._deliver(Progress(request, finished=FinishReason.ABORT))

    def sleep(self, level: int) -> None:
        """End what runs, forget the cache, and let new requests wait until `wake`."""
        self.abort_all()
        self._engine.forget_prefixes()
        self._sleep_level = level

    def wake(self) -> None:
        if self._sleep_level is None:
            return
        self._sleep_level = None
        self._not_before_s = self.now_s
        self._go_on()

    def reset_prefix_cache(self) -> bool:
        """False while a request runs, as vLLM answers."""
        self._catch_up()
        return self._engine.forget_prefixes()

    async def drained(self) -> None:
        """Returns when no request is open."""
        await self._quiet.wait()

    @property
    def _clock(self) -> Timetable:
        if self._timetable is None:
            raise RuntimeError("the runner was not started")
        return self._timetable

    @property
    def _is_held(self) -> bool:
        return self.died_of is not None or self._frozen_at_s is not None

    def _simulated(self, at: float) -> float:
        return (at - self._started_at) * self._speed_up

    def _real(self, at_s: float) -> float:
        return self._started_at + at_s / self._speed_up

    def _abort(self, request: RequestId) -> None:
        if self._streams.pop(request, None) is not None:
            self._catch_up()
            self._engine.abort(request)
            self._note_quiet()

    def _tick(self) -> None:
        self._timer = None
        self._catch_up()
        self._go_on()

    def _catch_up(self) -> None:
        """End every step that is due."""
        if self._is_held:
            return
        due_s = self.now_s + EARLY_S * self._speed_up
        while self._ends_s is not None and self._ends_s <= due_s:
            self._ticked_at = self._clock.time()
            step = self._engine.end()
            self._ends_s = None
            for progress in step.progress:
                self._deliver(progress)
            if step.died_of is not None:
                self.kill(step.died_of)
                return
            self._begin()

    def _begin(self) -> None:
        if self._sleep_level is None:
            self._ends_s = self._engine.begin(at_s=self._not_before_s)

    def _go_on(self) -> None:
        """Begin a step unless one is in progress, and be called when it ends."""
        if self._is_held:
            return
        if self._ends_s is None:
            self._begin()
        if self._ends_s is None or self._timer is not None:
            return
        at = self._real(self._ends_s)
        if self._engine.only_goes_on:
            at = max(at, self._ticked_at + GRAIN_S)
        self._timer = self._clock.call_at(at, self._tick)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _deliver(self, progress: Progress) -> None:
        stream = self._streams.get(progress.id)
        if stream is None:
            return
        stream.put(progress)
        if progress.finished is not None:
            del self._streams[progress.id]
            self._note_quiet()

    def _note_quiet(self) -> None:
        if not self._streams:
            self._quiet.set()

    def _fail_all(self) -> None:
        self._disarm()
        for stream in self._streams.values():
            stream.put(None)
        self._streams.clear()
        self._quiet.set()
