"""One replica that was asked for a turn: what is held there until it is left."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from router.breakers import Breakers
from router.domain.breaker import Outcome
from router.domain.decision import Attempt
from router.domain.exchange import Call
from router.domain.relay import Relay
from router.domain.trace_parent import trace_parent_of, with_trace_parent
from router.errors import EngineTimedOut
from router.inflight import InFlight, RunningTurn
from router.placing import Errand, Placed, Placing
from router.ports import Answer, DecisionLog, Engine, FleetView, Span, Tracing
from router.prewarming import Prewarming
from router.recent_prompts import RecentPrompts
from router.retry_budgets import RetryBudgets
from router.settings import RouterSettings
from router.tally import Tally

_T = TypeVar("_T")

COMPLETED = "completed"
CANCELLED = "cancelled"
HANDED_OVER = "handed over"


@dataclass(frozen=True, slots=True)
class Yard:
    """What every turn is carried with."""

    placing: Placing
    engine: Engine
    fleet: FleetView
    breakers: Breakers
    budgets: RetryBudgets
    in_flight: InFlight
    decisions: DecisionLog
    prewarming: Prewarming
    recent_prompts: RecentPrompts
    tally: Tally
    tracing: Tracing | None
    settings: RouterSettings
    clock: Callable[[], float]
    wall: Callable[[], float]

    def give_back(self, placed: Placed) -> None:
        """A place that is not needed after all."""
        placed.reservation.release()
        replica = placed.replica.id
        self.breakers.saw(replica, Outcome.NEITHER, is_trial=placed.is_trial, now=self.clock())

    async def settle(self, relay: Relay | None, errand: Errand) -> None:
        """Before another replica goes on with a reply: what only a replica can say of its tokens is asked of one."""
        doubt = None if relay is None else relay.doubt()
        fleet = self.fleet.current()
        replica = next((fleet.get(each) for each in fleet.open_to(errand.model) if each not in errand.failed), None)
        if relay is None or doubt is None or replica is None:
            return
        for tokens in doubt.candidates:
            said = await self.engine.text_of(replica, doubt.ids[:tokens])
            if said is None:
                return
            if doubt.is_settled_by(said):
                relay.settle(tokens)
                return


class OpenAttempt:
    """Holds a place at a replica, a connection to it once it has answered, and a span, until `leave`."""

    __slots__ = (
        "_answer",
        "_deadline",
        "_is_left",
        "_is_takeover",
        "_placed",
        "_span",
        "_turn",
        "_why",
        "_yard",
        "read",
        "replica",
    )

    def __init__(
        self,
        yard: Yard,
        turn: RunningTurn,
        *,
        placed: Placed,
        why: str,
        is_takeover: bool,
        deadline: float | None,
    ) -> None:
        self._yard = yard
        self._turn = turn
        self._placed = placed
        self._why = why
        self._is_takeover = is_takeover
        self._deadline = deadline
        self._span: Span | None = None
        self._answer: Answer | None = None
        self._is_left = False
        self.replica = placed.replica.id
        self.read: Callable[[], Awaitable[bytes]] = no_bytes
        """The next bytes of the answer; the engine's own method where nothing stands between."""
        yard.in_flight.enter(self.replica, turn)

    @property
    def content_type(self) -> str:
        return "" if self._answer is None else self._answer.content_type

    async def open(self, call: Call) -> None:
        yard = self._yard
        if yard.tracing is not None:
            call = self._traced(yard.tracing, call)
        opening = yard.engine.open(self._placed.replica, call)
        answer = await (opening if self._deadline is None else self._in_time(opening))
        if self._is_left:
            answer.close()
            return
        self._answer = answer
        self.read = answer.read if self._deadline is None else self._read_in_time
        if self._placed.is_trial:
            self.read = self._read_trial

    def short_cut(self, take: Callable[[bytes], bool] | None) -> None:
        """As the answer does it; not where each read is timed or looked at here."""
        if self._answer is not None and (take is None or self.read == self._answer.read):
            self._answer.short_cut(take)

    async def _read_in_time(self) -> bytes:
        return b"" if self._answer is None else await self._in_time(self._answer.read())

    async def _read_trial(self) -> bytes:
        """The request that tries an open breaker: its first piece lets the others in."""
        data = b"" if self._answer is None else await self._in_time(self._answer.read())
        self._show(Outcome.BEGUN)
        return data

    async def _in_time(self, work: Awaitable[_T]) -> _T:
        if self._deadline is None:
            return await work
        try:
            async with asyncio.timeout(max(0.0, self._deadline - self._yard.clock())):
                return await work
        except TimeoutError as error:
            detail = f"the reply took longer than {self._yard.settings.total_timeout_s:g} s"
            raise EngineTimedOut(self.replica, detail) from error

    def leave(self, outcome: str, shown: Outcome = Outcome.NEITHER, detail: str = "") -> Attempt:
        """Give everything back; what the decision log is to hold of it."""
        self._is_left = True
        if self._answer is not None:
            self._answer.close()
        replica = self.replica
        self._placed.reservation.release()
        self._yard.in_flight.leave(replica, self._turn)
        self._yard.tally.attempts[replica, outcome] += 1
        self._show(shown)
        if self._span is not None:
            self._span.end(failed="" if outcome in (COMPLETED, CANCELLED, HANDED_OVER) else outcome)
        return Attempt(replica, self._why, outcome, detail, self._is_takeover)

    def _show(self, outcome: Outcome) -> None:
        self._yard.breakers.saw(self.replica, outcome, is_trial=self._placed.is_trial, now=self._yard.clock())

    def _traced(self, tracing: Tracing, call: Call) -> Call:
        self._span = tracing.start("router.attempt", parent_header=trace_parent_of(call))
        self._span.note("replica", self.replica)
        self._span.note("why", self._why)
        return with_trace_parent(call, self._span.parent_header)


async def no_bytes() -> bytes:
    return b""
