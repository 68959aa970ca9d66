"""The turns that run in this process, each in a task of its own that outlives the request which asked for it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.errors import GatewayError, ServerStopping
from gateway.shared_turns import SharedTurns
from gateway.turn_admission import AdmittedTurn, TurnAdmission
from gateway.turn_journal import TurnJournal
from gateway.turn_reader import TurnReader, lost, stored
from gateway.turn_trace import TurnTrace
from router.ports import Tracing
from sessions.domain.events import Accepted, Failed, Terminal, terminal
from sessions.domain.session import SessionId
from sessions.domain.turn import IdempotencyKey, Turn, TurnError
from sessions.domain.viewer import Viewer
from sessions.errors import SessionBusy, SessionMoved, SessionsError, TurnNotFound
from sessions.use_cases.open_turn import Stop
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.read_turn import ReadTurn
from sessions.use_cases.take_turn import BegunTurn

BUSY_RETRY_S = 1.0
"""A turn takes seconds; asking again sooner is of no use."""

_LOOKS_S: Final = (0.0, 0.1, 0.2, 0.3)
"""When to look again for a turn that another process has begun and may not have told of."""

_BROKEN = Failed(TurnError("internal_error", "the turn ended by a fault of the server", retryable=True))

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EndedTurn:
    """A turn that has ended, for who watches."""

    turn: Turn
    counted_tokens: int
    """What we counted in its prompt."""
    viewer: Viewer
    needs_thought: bool
    """Whether something is to be done for the session before its next turn."""


class _Running:
    """One turn from the moment it was asked for: first it opens or is refused, then it has a journal."""

    def __init__(self, viewer: Viewer, idempotency: IdempotencyKey | None) -> None:
        self.viewer = viewer
        self._idempotency = idempotency
        self._unread_since: float | None = None
        self._is_left = False
        self._decided = asyncio.Event()
        self._refusal: Exception | None = None
        self._reader: TurnReader | None = None
        self.turn: BegunTurn | None = None
        self.journal: TurnJournal | None = None
        self.attempt = ""

    def admits(self, idempotency: IdempotencyKey | None) -> bool:
        """Whether this order is the one that runs, asked for again; raises `IdempotencyKeyReused`."""
        if idempotency is None or self._idempotency is None:
            return False
        return idempotency.repeats(self._idempotency)

    def open(self, session: SessionId, admitted: AdmittedTurn) -> TurnJournal:
        turn = self.turn = admitted.turn
        self.journal = TurnJournal(Accepted(session, turn.number, turn.replica))
        self._reader = TurnReader(turn.number, turn.replica, turn.pin, self.journal.follow, admitted.standing)
        self._decided.set()
        return self.journal

    def refuse(self, refusal: Exception) -> None:
        self._refusal = refusal
        self._decided.set()

    def unread_s(self, now: float, *, is_watched: bool) -> float:
        """For how long it has had no reader. Who has a key will come back for it."""
        is_read = is_watched or self._idempotency is not None or self.journal is None or self.journal.readers > 0
        if is_read:
            self._unread_since = None
        elif self._unread_since is None:
            self._unread_since = now
        return 0.0 if self._unread_since is None else now - self._unread_since

    def leave(self) -> bool:
        """Stop the turn that nobody reads; whether it is the first time."""
        is_first = not self._is_left
        if is_first and self.turn is not None:
            self._is_left = True
            self.turn.stop(Stop.CANCELLED)
        return is_first

    async def reader(self) -> TurnReader:
        """Wait until the turn has opened; raises what it was refused with."""
        await self._decided.wait()
        if self._reader is None:
            raise self._refusal or SessionBusy(retry_after_s=BUSY_RETRY_S)
        return self._reader


class RunningTurns:
    """Use as an async context manager: leaving it stops what still runs, after `grace_s` seconds.

    `on_end` is told each finished turn.
    """

    def __init__(
        self,
        *,
        take_turn: TurnAdmission,
        read_turn: ReadTurn,
        shared: SharedTurns,
        grace_s: float,
        on_end: Callable[[EndedTurn], None],
        tracing: Tracing | None = None,
    ) -> None:
        self._take = take_turn
        self._read_turn = read_turn
        self._shared = shared
        self._grace_s = grace_s
        self._on_end = on_end
        self._tracing = tracing
        self._running: dict[SessionId, _Running] = {}
        self._tasks = asyncio.TaskGroup()
        self._end_of_grace: asyncio.TimerHandle | None = None
        self._grace_is_over = False
        self._unread = 0

    @property
    def count(self) -> int:
        return len(self._running)

    def gauges(self) -> Mapping[str, float]:
        return {"turns_running": self.count, "turns_followed": self._shared.followed}

    def counters(self) -> Mapping[str, float]:
        return {"turns_unread": self._unread, "journal_failures": self._shared.failures}

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
        await self._tasks.__aexit__(kind, error, traceback)
        if self._end_of_grace is not None:
            self._end_of_grace.cancel()

    def stop(self) -> None:
        """Take nothing new from now on, and stop what still runs when the grace is over."""
        if self._end_of_grace is None:
            self._end_of_grace = asyncio.get_running_loop().call_later(self._grace_s, self._stop_all)
            self._shared.stop()

    async def heed_readers(self, *, grace_s: float) -> None:
        """Cancel each turn that nobody has read for so long, here or elsewhere; to be run beside all else."""
        while True:
            await asyncio.sleep(min(1.0, grace_s / 4))
            now = asyncio.get_running_loop().time()
            for running in self._running.values():
                unread_s = running.unread_s(now, is_watched=self._shared.is_watched(running.attempt))
                if unread_s >= grace_s and running.leave():
                    self._unread += 1

    async def take(self, order: TurnOrder) -> TurnReader:
        """Start the turn, or join it: the same idempotency key attaches to the running turn and replays a finished one.

        Returns once the tutor has taken the request; raises every refusal of `TurnAdmission.begin`.
        """
        found = await self._found(order)
        if found is not None:
            return found
        running = self._running.get(order.session)
        if running is None:
            running = self._start(order)
        elif not running.admits(order.idempotency):
            raise SessionBusy(retry_after_s=BUSY_RETRY_S)
        try:
            return await running.reader()
        except (SessionMoved, SessionBusy):
            # Another process may have begun, or even ended, the very turn that is asked for after we had looked for it.
            found = await self._found_soon(order) if order.idempotency is not None else None
            if found is None:
                raise
            return found

    async def _found_soon(self, order: TurnOrder) -> TurnReader | None:
        """As `_found`; a process that has just begun a turn tells of it a moment later."""
        for pause_s in _LOOKS_S:
            await asyncio.sleep(pause_s)
            found = await self._found(order)
            if found is not None:
                return found
        return None

    async def _found(self, order: TurnOrder) -> TurnReader | None:
        """The turn that was asked for before, and has ended, or runs elsewhere."""
        earlier = await self._take.earlier(order)
        if earlier is not None:
            return stored(earlier)
        return None if order.session in self._running else await self._shared.join(order)

    async def read(self, viewer: Viewer, session: SessionId, number: int, *, was_read: bool = False) -> TurnReader:
        """The turn as it runs, here or elsewhere, or as it was stored; one that `was_read` before is looked
        for longer, and lost where it is nowhere.

        Raises `SessionNotFound`, `TurnNotFound` or `JournalUnavailable`.
        """
        running = self._find(session, number)
        if running is not None and running.viewer == viewer:
            return await running.reader()
        try:
            return stored(await self._read_turn(viewer, session, number))
        except TurnNotFound:
            # The session may be seen, and the turn may run.
            running = self._find(session, number)
            if running is not None:
                return await running.reader()
            found = await self._shared.find(viewer, session, number, was_read=was_read)
            if found is None and was_read:
                return lost(number)
            if found is None:
                raise
            return found

    async def cancel(self, viewer: Viewer, session: SessionId, number: int) -> None:
        """Stop the turn down to the engine, wherever it runs; nothing when it has ended.

        Raises `SessionNotFound`, `TurnNotFound` or `JournalUnavailable`.
        """
        running = self._find(session, number)
        if running is None or running.viewer != viewer:
            try:
                await self._read_turn(viewer, session, number)
            except TurnNotFound:
                running = self._find(session, number)
                if running is None and not await self._shared.cancel(session, number):
                    raise
        if running is not None and running.turn is not None:
            running.turn.stop(Stop.CANCELLED)

    def _find(self, session: SessionId, number: int) -> _Running | None:
        running = self._running.get(session)
        return running if running is not None and running.turn is not None and running.turn.number == number else None

    def _start(self, order: TurnOrder) -> _Running:
        if self._end_of_grace is not None:
            raise ServerStopping("this server is shutting down")
        running = _Running(order.viewer, order.idempotency)
        self._running[order.session] = running
        self._tasks.create_task(self._run(order, running))
        return running

    async def _run(self, order: TurnOrder, running: _Running) -> None:
        ended: Terminal = _BROKEN
        trace, failed = TurnTrace(self._tracing, order), ""
        try:
            ended = await self._play(trace, running)
            failed = ended.error.code if isinstance(ended, Failed) else ""
        except (SessionsError, GatewayError) as refusal:
            running.refuse(refusal)
            failed = type(refusal).__name__
        except Exception as error:  # noqa: BLE001  one turn's fault must not end the group that runs all others
            _log.exception("turn failed by a fault", session=str(order.session))
            running.refuse(error)
            failed = type(error).__name__
        finally:
            trace.end(failed=failed)
            # Before the end is told, so that a reader who has seen it can ask for the next turn at once.
            del self._running[order.session]
            if running.journal is not None:
                running.journal.end(ended)

    async def _play(self, trace: TurnTrace, running: _Running) -> Terminal:
        async with self._take.begin(trace.order) as admitted:
            turn, journal = admitted.turn, running.open(trace.order.session, admitted)
            running.attempt = self._shared.tell(trace.order, turn, journal)
            trace.opened(turn)
            if self._grace_is_over:
                turn.stop(Stop.SHUTDOWN)
            finished = await turn.run(journal.add)
        trace.finished(finished)
        self._on_end(EndedTurn(finished, turn.prompt_tokens, trace.order.viewer, turn.needs_thought))
        return terminal(finished)

    def _stop_all(self) -> None:
        self._grace_is_over = True
        for running in self._running.values():
            if running.turn is not None:
                running.turn.stop(Stop.SHUTDOWN)
