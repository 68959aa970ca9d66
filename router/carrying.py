"""Carries one call: to a replica, through its failure to the next one, and its bytes back to the caller.

A streamed reply passes the `Relay`, which knows what was delivered and how another replica can go on from there; a
whole answer is asked for anew until one is whole. Each replica that is asked is one attempt.
"""

from collections.abc import Awaitable, Callable
from typing import assert_never

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.attempt import CANCELLED, COMPLETED, HANDED_OVER, OpenAttempt, Yard, no_bytes
from router.domain.breaker import Outcome, outcome_of
from router.domain.decision import Decision
from router.domain.exchange import Call
from router.domain.failover import Elsewhere, Failure, GiveUp, after_failure
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from router.domain.relay import Relay
from router.domain.resume import AskAgain, Complete, Continue, Stuck
from router.domain.trace_parent import with_trace_parent
from router.errors import (
    EngineBroke,
    EngineError,
    RouterError,
    StreamBroken,
)
from router.inflight import RunningTurn
from router.placing import Errand, Placed
from router.ports import Span
from router.setback import last_word, report
from router.settings import EngineKind
from router.short_cut import ShortCut
from router.tally import Takeover
from router.turn_span import end_turn_span, start_turn_span

_log: FilteringBoundLogger = structlog.get_logger(__name__)

# The engine's own limit of the whole reply and ours are read from two clocks.
_CLOCKS_DIFFER_S = 0.05


class Carried(RunningTurn):
    """A call that a replica has taken; whoever holds it must close it."""

    __slots__ = (
        "_asked",
        "_attempt",
        "_began",
        "_call",
        "_content_type",
        "_decision",
        "_errand",
        "_failures",
        "_is_closed",
        "_last_bytes",
        "_last_error",
        "_may_continue",
        "_read",
        "_relay",
        "_replica",
        "_sent",
        "_short_cut",
        "_span",
        "_yard",
    )

    def __init__(self, yard: Yard, call: Call, *, errand: Errand) -> None:
        settings = yard.settings
        self._yard = yard
        self._call = call
        self._errand = errand
        self._may_continue = settings.may_continue and errand.asks.may_continue
        self._span: Span | None = None
        self._sent = call
        if yard.tracing is not None:
            self._span = start_turn_span(yard.tracing, call)
            self._sent = with_trace_parent(call, self._span.parent_header)
        self._relay: Relay | None = None
        if call.is_streamed:
            is_vllm = settings.engine is EngineKind.VLLM
            asks_ids = settings.token_ids and self._may_continue and is_vllm
            self._relay = Relay(self._sent, token_ids=asks_ids, must_tell_usage=is_vllm)
        self._decision = Decision(call.request_id, call.model, yard.wall())
        self._attempt: OpenAttempt | None = None
        self._asked = self._failures = 0
        self._began = 0.0
        self._replica = ReplicaId("")
        self._content_type = ""
        self._read: Callable[[], Awaitable[bytes]] = no_bytes
        self._short_cut: ShortCut | None = None
        self._last_bytes: bytes | None = None
        self._last_error = ""
        self._is_closed = False

    @property
    def replica(self) -> ReplicaId:
        """Where it runs now, or ran last."""
        return self._replica

    @property
    def pin(self) -> PinDecision:
        return self._errand.decision

    @property
    def content_type(self) -> str:
        return self._content_type

    @property
    def continued(self) -> int:
        """How often another replica has taken the reply over after it had begun."""
        return 0 if self._relay is None else self._relay.continued

    async def open(self) -> None:
        """Return once a replica has taken the call. Whatever comes of it, `close` must be called."""
        yard, errand = self._yard, self._errand
        if (key := errand.turn_of) is not None:
            yard.in_flight.begin(key)
            yard.prewarming.drop(key)
        placed = await yard.placing.place(errand)
        if self._relay is not None:
            self._relay.window_tokens = placed.replica.window_tokens
        self._began = yard.clock()
        yard.budgets.of(errand.model).first(self._began)
        try:
            await self._ask(placed, self._sent if self._relay is None else self._relay.call)
        except EngineError as error:
            await self._go_on(error)
        yard.tally.took(errand.decision, is_background=errand.asks.is_background)

    async def read(self) -> bytes:
        """Of a stream whole events, as they come; a whole answer in one piece; empty at the end.

        Raises an `EngineError` when the reply broke and no replica could go on with it.
        """
        relay = self._relay
        if relay is None:
            return await self._read_whole()
        while True:
            try:
                data = await self._read()
                if not data:
                    return self._ended(relay)
                out = relay.feed(data)
            except (EngineError, StreamBroken) as error:
                out = await self._go_on(error)
                if self._is_closed:
                    return out
            if out:
                return out

    def short_cut(self, give: Callable[[bytes], bool]) -> None:
        """While a `read` waits, give ordinary events to the caller as they come; it returns what `give` refuses."""
        if self._relay is not None and self._attempt is not None:
            self._short_cut = ShortCut(self._relay, give)
            self._attempt.short_cut(self._short_cut)

    def close(self) -> None:
        """Give back everything that is still held; an engine that still generates is told to stop."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._attempt is not None:
            is_complete = self._relay is not None and self._relay.is_complete
            self._leave(self._attempt, COMPLETED if is_complete else CANCELLED)
        yard, errand, decision = self._yard, self._errand, self._decision
        if errand.turn_of is not None:
            yard.in_flight.end(errand.turn_of)
        decision.pin = errand.decision
        decision.generation = 0 if errand.pin is None else errand.pin.generation
        decision.waited_ms = errand.waited_s * 1e3
        decision.candidates = errand.candidates
        yard.decisions.write(decision)
        if self._span is not None:
            end_turn_span(self._span, self._replica, errand.decision, continued=self.continued, failed=self._last_error)

    @override
    def hand_over(self) -> None:
        # A read that waits now ends with the next piece; the one after it moves first.
        if self._attempt is not None and self._relay is not None:
            self._attempt.short_cut(None)
            self._read = self._read_elsewhere

    def _ended(self, relay: Relay) -> bytes:
        """The answer's bytes have ended as they should; raises `StreamBroken` unless the reply has too."""
        if self._is_closed:
            return b""
        out = relay.end() if self._last_bytes is None else self._last_bytes
        self._complete()
        return out

    async def _read_whole(self) -> bytes:
        parts: list[bytes] = []
        while not self._is_closed:
            try:
                while data := await self._read():
                    parts.append(data)
            except EngineError as error:
                parts.clear()
                await self._go_on(error)
            else:
                self._complete()
        return b"".join(parts)

    def _complete(self) -> None:
        if self._attempt is not None:
            self._leave(self._attempt, COMPLETED, Outcome.SUCCESS)
        if (key := self._errand.turn_of) is not None:
            self._yard.recent_prompts.remember(key, self._call, self._errand.asks.demand, self.replica)
        self.close()

    async def _ask(self, placed: Placed, call: Call) -> None:
        yard = self._yard
        if self._is_closed:
            return yard.give_back(placed)
        is_takeover = self._relay is not None and self._relay.has_begun
        # The first replica's engine keeps the time of the whole reply itself; a later one knows only of its own part.
        deadline = self._began + yard.settings.total_timeout_s if self._asked else None
        attempt = OpenAttempt(
            yard, self, placed=placed, why=self._errand.why, is_takeover=is_takeover, deadline=deadline
        )
        self._attempt = attempt
        self._replica = attempt.replica
        if self._asked:
            yard.tally.retries += 1
        self._asked += 1
        await attempt.open(call)
        self._content_type = attempt.content_type
        if self._attempt is attempt:
            self._read = attempt.read
            if self._short_cut is not None:
                attempt.short_cut(self._short_cut)
        return None

    def _leave(self, attempt: OpenAttempt, outcome: str, shown: Outcome = Outcome.NEITHER, detail: str = "") -> None:
        if attempt is self._attempt:
            self._attempt = None
            self._read = no_bytes
        self._decision.attempts.append(attempt.leave(outcome, shown, detail))

    async def _go_on(self, error: EngineError | StreamBroken) -> bytes:
        """After a failure: another replica goes on. What is to be handed out at once, which is mostly nothing."""
        if self._is_closed:
            # Whoever closed it while somebody else was reading wants no other replica.
            return b""
        if self._relay is not None and self._relay.is_complete:
            self._complete()
            return b""
        try:
            while True:
                error, may_ask = self._failed(error)
                step = await self._next(error) if may_ask else self._all_told(error)
                if isinstance(step, bytes):
                    self._complete()
                    return step
                try:
                    await self._ask(*step)
                except EngineError as again:
                    error = again
                else:
                    return b""
        except EngineError as last:
            self._last_error = type(last).__name__
            self.close()
            raise

    def _failed(self, error: EngineError | StreamBroken) -> tuple[EngineError, bool]:
        """Leave the replica: what the turn ends with if nobody goes on, and whether another one may be asked."""
        if isinstance(error, StreamBroken):
            error = EngineBroke(self._replica, str(error))
        yard, failed = self._yard, self._replica
        detail = report(yard.fleet, failed, error)
        if self._attempt is not None:
            shown = outcome_of(error, gives_way=self._errand.asks.is_background)
            self._leave(self._attempt, type(error).__name__, shown, detail)
        self._failures += 1
        self._errand.failed = self._errand.failed | {failed}
        self._errand.is_handed_over = False
        match after_failure(self._failure(error), most=yard.settings.max_attempts, may_continue=self._may_continue):
            case GiveUp(why):
                return last_word(error, why, has_begun=self._has_begun), False
            case Elsewhere(is_free):
                may_ask = is_free or yard.budgets.of(self._call.model).take(yard.clock())
                yard.tally.budget_exhausted += not may_ask
                return error, may_ask
            case never:
                assert_never(never)

    def _failure(self, error: EngineError) -> Failure:
        known = self._yard.fleet.current().get(self._replica)
        total_s = self._yard.settings.total_timeout_s
        return Failure(
            error,
            attempts=self._failures,
            has_begun=self._has_begun,
            is_replica_down=known is None or not known.is_ready,
            is_late=self._yard.clock() >= self._began + total_s - _CLOCKS_DIFFER_S,
        )

    async def _next(self, failed: EngineError) -> tuple[Placed, Call] | bytes:
        """Where the turn goes on, and with what; or the bytes that end the reply, where nothing is missing."""
        self._errand.is_urgent = self._errand.is_urgent or self._has_begun
        await self._yard.settle(self._relay, self._errand)
        try:
            placed = await self._yard.placing.place(self._errand)
        except RouterError:
            return self._all_told(failed)
        if self._relay is None:
            return placed, self._sent
        match self._relay.resume(replica=placed.replica.id):
            case AskAgain(call):
                self._yard.tally.takeovers[Takeover.ASKED_ANEW] += 1
                return placed, call
            case Continue(call):
                self._yard.tally.takeovers[Takeover.CONTINUED] += 1
                return placed, call
            case Complete(data):
                self._yard.give_back(placed)
                self._yard.tally.takeovers[Takeover.COMPLETED] += 1
                return data
            case Stuck(why):
                self._yard.give_back(placed)
                self._yard.tally.takeovers[Takeover.STUCK] += 1
                _log.warning("reply cannot be continued", replica=self._replica, why=why)
                raise failed
            case never:
                assert_never(never)

    def _all_told(self, failed: EngineError) -> bytes:
        """What ends the reply if all of it was delivered. Otherwise the replica's own error says more than that there
        is no other one.
        """
        step = None if self._relay is None else self._relay.resume(replica=self._replica)
        if not isinstance(step, Complete):
            raise failed from None
        self._yard.tally.takeovers[Takeover.COMPLETED] += 1
        return step.data

    @property
    def _has_begun(self) -> bool:
        return self._relay is not None and self._relay.has_begun

    async def _read_elsewhere(self) -> bytes:
        """Hand the rest over while the old replica still generates; it is left when the new one has answered."""
        old, relay = self._attempt, self._relay
        if old is None or relay is None:
            return b""
        self._read = old.read
        if relay.is_complete or (relay.has_begun and not self._may_continue):
            return await self._read()
        placed = await self._place_beside(old.replica)
        if placed is None:
            return await self._read()
        match relay.resume(replica=placed.replica.id):
            case AskAgain(call) | Continue(call):
                try:
                    await self._ask(placed, call)
                finally:
                    self._leave(old, HANDED_OVER)
            case Complete(data):
                self._yard.give_back(placed)
                self._last_bytes = data
                return b""
            case Stuck():
                self._yard.give_back(placed)
            case never:
                assert_never(never)
        return await self._read()

    async def _place_beside(self, old: ReplicaId) -> Placed | None:
        placing, errand = self._yard.placing, self._errand
        if not placing.has_other(errand, old):
            return None
        errand.failed = errand.failed | {old}
        errand.is_urgent = errand.is_handed_over = True
        try:
            return await placing.place(errand)
        except RouterError:
            return None
