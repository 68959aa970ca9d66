"""One scripted trainee: starts a session, takes its turns, checks what was stored, and leaves."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from uuid import uuid4

from gateway.cli.api_client import ApiClient
from gateway.cli.api_faults import ApiCutOff, ApiFault, ApiRefused, ApiUnreachable
from gateway.cli.drill_board import Board, Stage
from gateway.cli.drill_plan import DrillPlan, think_time_s
from gateway.cli.drill_summary import Failure, TurnRow
from gateway.cli.heard_turn import Fault, HeardTurn, fault_of, fault_of_record
from gateway.cli.trainee_lines import line_for
from gateway.cli.wire import Done
from sessions.domain.turn import Usage

MAX_RETRIES = 5
MAX_RETRY_WAIT_S = 15.0
LEAVE_S = 30.0
RECONNECT_S = 0.5
MAX_RECONNECTS = 20
GIVE_UP_AFTER = 3
"""So many failed turns in a row end a session: what follows would only repeat them."""


class ScriptedTrainee:
    """Plays once. All it finds goes to the board; `clock` gives seconds since the drill began."""

    def __init__(
        self, *, number: int, client: ApiClient, plan: DrillPlan, board: Board, clock: Callable[[], float]
    ) -> None:
        self._number = number
        self._client = client
        self._plan = plan
        self._board = board
        self._clock = clock
        self._start_key = str(uuid4())
        self._session: str | None = None
        self._may_have_started = False
        self._next_turn = 1
        self._running: int | None = None

    async def play(self) -> None:
        stage = Stage.STOPPED
        try:
            async with asyncio.timeout(self._plan.timeout_s):
                self._session = await self._started()
            self._board.stage(self._number, Stage.THINKING, session=self._session)
            if await self._took_turns(self._session):
                await self._check_count(self._session)
            stage = Stage.CLOSED
        except TimeoutError:
            self._failed(Fault("session_timed_out", f"no session within {self._plan.timeout_s:g} s"))
            stage = Stage.BROKEN
        except ApiFault as fault:
            self._failed(Fault(fault.code, fault.detail))
            stage = Stage.BROKEN
        finally:
            await self._leave()
            self._board.stage(self._number, stage)

    async def _started(self) -> str:
        self._may_have_started = True
        metadata = {"source": "drillyard drill run", "trainee": str(self._number)}
        attempt = 0
        while True:
            try:
                session = await self._client.start_session(
                    self._plan.scenario, metadata=metadata, idempotency=self._start_key, drill=self._plan.drill
                )
            except ApiUnreachable:
                self._may_have_started = False
                raise
            except ApiRefused as refusal:
                self._may_have_started = False
                await _wait_or_raise(refusal, attempt)
                attempt += 1
            else:
                return session.id

    async def _took_turns(self, session: str) -> bool:
        """Whether all of them were tried."""
        intended = self._clock()
        failed_in_a_row = 0
        for turn in range(1, self._plan.turns + 1):
            row = await self._taken(session, turn, intended)
            self._board.add(row)
            self._board.stage(self._number, Stage.THINKING)
            failed_in_a_row = 0 if row.succeeded else failed_in_a_row + 1
            if failed_in_a_row == GIVE_UP_AFTER and turn < self._plan.turns:
                self._failed(Fault("gave_up", f"{GIVE_UP_AFTER} turns in a row failed; the rest was not played"))
                return False
            if turn < self._plan.turns:
                intended = (
                    row.started_s + (row.total_s or 0.0) + think_time_s(self._plan, trainee=self._number, turn=turn)
                )
                await asyncio.sleep(max(0.0, intended - self._clock()))
        return True

    async def _taken(self, session: str, turn: int, intended_s: float) -> TurnRow:
        said = line_for(self._plan.lines, trainee=self._number, turn=turn)
        heard = HeardTurn()
        self._board.stage(self._number, Stage.WAITING, turn=turn)
        row = TurnRow(self._number, session, turn, intended_s=intended_s, started_s=self._clock())
        self._running = self._next_turn  # before its acceptance is heard it may run already
        retries, fault = await self._heard(session, said, heard)
        await self._cancel_running()
        if heard.number is not None:
            self._next_turn = heard.number + 1
        return replace(
            row,
            ttft_s=_since(row.started_s, heard.first_text_at),
            total_s=_since(row.started_s, heard.ended_at)
            if heard.ended_at is not None
            else self._clock() - row.started_s,
            usage=_usage(heard),
            replica=heard.replica,
            pin=heard.pin,
            retries=retries,
            failure=Failure(self._number, session, turn, fault.code, fault.message) if fault is not None else None,
        )

    async def _heard(self, session: str, said: str, heard: HeardTurn) -> tuple[int, Fault | None]:
        """How often it was sent again, and what went wrong."""
        key = str(uuid4())
        attempt = 0
        try:
            async with asyncio.timeout(self._plan.timeout_s):
                while True:
                    try:
                        await self._listen(session, said, key, heard)
                        break
                    except ApiRefused as refusal:
                        await _wait_or_raise(refusal, attempt)
                        attempt += 1
                fault = fault_of(heard, expected_number=self._next_turn)
                return attempt, fault or await self._fault_of_record(session, said, heard)
        except TimeoutError:
            return attempt, Fault("timed_out", f"not ended within {self._plan.timeout_s:g} s")
        except ApiFault as fault:
            return attempt, Fault(fault.code, fault.detail)

    async def _listen(self, session: str, said: str, key: str, heard: HeardTurn) -> None:
        async with self._client.take_turn(session, said, idempotency=key) as stream:
            heard.replica, heard.pin = stream.replica, stream.pin
            async for timed in stream.events():
                heard.take(timed)
                self._running = (heard.number or self._running) if heard.end is None else None
                self._board.stage(self._number, Stage.HEARING)

    async def _fault_of_record(self, session: str, said: str, heard: HeardTurn) -> Fault | None:
        self._board.stage(self._number, Stage.CHECKING)
        stored = await self._client.turn(session, self._next_turn)
        return fault_of_record(heard, stored, said=said)

    async def _check_count(self, session: str) -> None:
        stored = [turn.turn for turn in await self._client.turns(session) if turn.state == "completed"]
        if stored != list(range(1, self._plan.turns + 1)):
            self._failed(
                Fault("stored_turns", f"{self._plan.turns} turns were to be stored as completed, {len(stored)} are")
            )

    async def _leave(self) -> None:
        """Stops what still runs and closes the session, whatever happened before."""
        try:
            async with asyncio.timeout(LEAVE_S):
                await self._close()
        except TimeoutError:
            self._failed(Fault("not_closed", f"the session could not be closed within {LEAVE_S:g} s"))
        except ApiFault as fault:
            self._failed(Fault("not_closed", fault.detail))

    async def _close(self) -> None:
        if self._session is None and self._may_have_started:
            # Stopped before the answer came: the same idempotency key brings the session that may be there.
            self._session = await self._started()
        if self._session is None:
            return
        await self._cancel_running()
        attempt, lost = 0, 0
        while True:
            try:
                await self._client.close_session(self._session)
                break
            except ApiRefused as refusal:
                await _wait_or_raise(refusal, attempt)
                attempt += 1
            except (ApiUnreachable, ApiCutOff):  # a server that is started again can still take it
                lost += 1
                if lost == MAX_RECONNECTS:
                    raise
                await asyncio.sleep(RECONNECT_S)

    async def _cancel_running(self) -> None:
        """A turn whose end was not heard would keep its session busy and the replica too."""
        number, self._running = self._running, None
        if self._session is None or number is None:
            return
        with suppress(ApiFault, TimeoutError):  # it has ended meanwhile, or the server has gone
            async with asyncio.timeout(LEAVE_S):
                await self._client.cancel_turn(self._session, number)

    def _failed(self, fault: Fault) -> None:
        self._board.fail(Failure(self._number, self._session, None, fault.code, fault.message))


async def _wait_or_raise(refusal: ApiRefused, attempt: int) -> None:
    if not refusal.may_be_retried or attempt == MAX_RETRIES:
        raise refusal
    await asyncio.sleep(min(max(refusal.retry_after_s or 0.0, 0.1), MAX_RETRY_WAIT_S))


def _since(start: float, at: float | None) -> float | None:
    return at - start if at is not None else None


def _usage(heard: HeardTurn) -> Usage:
    if not isinstance(heard.end, Done):
        return Usage()
    usage = heard.end.usage
    return Usage(usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
