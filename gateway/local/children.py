"""The running children of one command: started, waited for, and stopped in reverse order, each noted on disk."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from gateway.local import process
from gateway.local.errors import DiskFull, LocalStackError, ProgramFailed, ServiceDied, ServiceNotReady
from gateway.local.free_port import free_port, is_free
from gateway.local.log_tail import last_meaningful_line, tells_of_a_full_disk
from gateway.local.process import POLL_S, Child, Command
from gateway.local.stop_signal import StopSignal

_LOOPBACK = "127.0.0.1"
_PORT_TRIES = 5
_QUICK_STARTERS_S = 2.0  # what is not ready by then loads something large: asking less often will do
_SLOW_POLL_S = 0.2
_NOTE_EVERY_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A server: `waiting_for` asks once, without blocking for long, and names what is missing (None: ready)."""

    command: Command
    waiting_for: Callable[[], str | None]
    deadline_s: float = 60.0

    @property
    def name(self) -> str:
        return self.command.name


class Children:
    """Hands out children and takes them all back. Used as it is by tests; `up` adds its stop signal and ledger."""

    def __init__(
        self, *, stop: StopSignal | None = None, note: Callable[[Sequence[Child]], None] = lambda _: None
    ) -> None:
        self._stop = stop or StopSignal()  # one that nobody has entered is never given
        self._note = note
        self._running: list[Child] = []

    def checkpoint(self) -> None:
        """Called in every wait: raises once somebody has asked to stop."""
        self._stop.check()

    def interrupting(self) -> AbstractContextManager[None]:
        """Around work of our own that cannot look up: the stop breaks in."""
        return self._stop.interrupting()

    @property
    def running(self) -> tuple[Child, ...]:
        return tuple(self._running)

    def note(self) -> None:
        """Tell whoever keeps the record what runs now."""
        self._note(self._running)

    def start(self, command: Command) -> Child:
        self.checkpoint()
        child = process.start(command)
        self._running.append(child)
        self.note()
        return child

    def stop(self, children: Sequence[Child]) -> None:
        """Stop these at the same time."""
        process.stop_together(children, hurry=self._stop.at_once)
        self._running = [child for child in self._running if child not in children]
        self.note()

    def stop_all(self) -> None:
        """Stop one after the other, the last started first."""
        while self._running:
            self.stop([self._running[-1]])

    def run(self, command: Command, *, hint: str = "", tick: Callable[[], None] = lambda: None) -> None:
        """Run a command to its end; `tick` is called now and then meanwhile."""
        child = self.start(command)
        try:
            while child.exit_code() is None:
                self.checkpoint()
                tick()
                time.sleep(POLL_S)
        finally:
            self.stop([child])
        if child.exit_code() != 0:
            raise _failure(ProgramFailed, f"{command.name} failed", child, hint=hint)

    def await_ready(
        self, services: Sequence[tuple[Service, Child]], *, tick: Callable[[], None] = lambda: None
    ) -> None:
        """Wait until all are ready; the first that dies or is late fails the whole."""
        began = noted = time.monotonic()
        waiting = list(services)
        while waiting:
            self.checkpoint()
            if time.monotonic() - noted > _NOTE_EVERY_S:  # what loads for long has children of its own by now
                noted = time.monotonic()
                self.note()
            waiting = [pair for pair in waiting if not self._is_ready(*pair, since_s=time.monotonic() - began)]
            tick()
            if waiting:
                time.sleep(POLL_S if time.monotonic() - began < _QUICK_STARTERS_S else _SLOW_POLL_S)
        self.note()

    def lacks(self, service: Service, child: Child) -> str | None:
        """Ask once; whatever answers for a child that has ended, it is not ready."""
        with self.interrupting():  # a probe may take seconds
            missing = service.waiting_for()
        return missing if child.exit_code() is None else f"{service.name} has ended"

    def _is_ready(self, service: Service, child: Child, *, since_s: float) -> bool:
        code = child.exit_code()
        if code is not None:
            raise _failure(ServiceDied, f"{service.name} ended ({ending(code)}) before it was ready", child)
        missing = self.lacks(service, child)
        if missing is not None and since_s > service.deadline_s:
            late = f"{service.name} was not ready after {service.deadline_s:.0f} s: {missing}"
            raise ServiceNotReady(late, log=service.command.log)
        return missing is None

    @contextmanager
    def serving(self, service_on: Callable[[int], Service], *, port: int = 0) -> Iterator[tuple[Child, int]]:
        """Run a server until the block ends; yields it with its port."""
        _, child, chosen = self.serve(service_on, port=port)
        try:
            yield child, chosen
        finally:
            self.stop([child])

    def serve(
        self,
        service_on: Callable[[int], Service],
        *,
        port: int = 0,
        first: int = 0,
        host: str = _LOOPBACK,
        tick: Callable[[], None] = lambda: None,
    ) -> tuple[Service, Child, int]:
        """Start a server and wait until it is ready; port 0 asks for a free one, of which `first` is tried first."""
        for tries_left in reversed(range(_PORT_TRIES)):
            chosen = port or first or free_port(host)
            first = 0
            service = service_on(chosen)
            child = self.start(service.command)
            try:
                self.await_ready([(service, child)], tick=tick)
            except BaseException as error:
                self.stop([child])
                # A port that was free a moment ago may be gone by now; only then is another try worth it.
                lost_race = isinstance(error, ServiceDied) and not port and not is_free(chosen, host)
                if not lost_race or not tries_left:
                    raise
            else:
                return service, child, chosen
        raise AssertionError("the last try returns or raises")


def _failure(kind: type[LocalStackError], what: str, child: Child, *, hint: str = "") -> LocalStackError:
    """Told with the child's own last words, and as what it is when the disk is full."""
    log, since = child.command.log, child.log_began
    if tells_of_a_full_disk(log, since=since):
        return DiskFull(f"{what}: the disk is full", hint="free some disk space and start again", log=log)
    return kind(f"{what}: {last_meaningful_line(log, since=since)}", hint=hint, log=log)


def ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
