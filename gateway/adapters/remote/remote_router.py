"""A router that runs alone, as the edge uses a router."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from urllib.parse import quote

from pydantic import ValidationError

from gateway.adapters.remote.remote_reply import RemoteReply
from gateway.adapters.remote.remote_whole import RemoteWhole, whole_answer
from gateway.adapters.remote.replica_states import states_of
from gateway.adapters.remote.router_refusals import ROUTER
from gateway.domain.replica_state import ReplicaState
from gateway.ports import RouterLine
from router.domain.asks import Asks, with_priority
from router.domain.chat_call import chat_call
from router.domain.exchange import Call, ChatRequest
from router.domain.fleet import AffinityKey, Fleet, Health, Replica
from router.errors import EngineError, RouterError

_LOOK_EVERY_S = 1.0


class RemoteRouter:
    """`may_continue`: whether the engines behind it can go on with a text that another one began; `must_tell_usage`:
    whether a reply of theirs without its usage is no whole reply.
    """

    def __init__(self, *, line: RouterLine, may_continue: bool, must_tell_usage: bool = True) -> None:
        self._line = line
        self._may_continue = may_continue
        self._must_tell_usage = must_tell_usage
        self._fleet = _unseen("it has not been asked yet")

    async def carry(self, call: Call, *, session: AffinityKey | None, asks: Asks) -> RemoteReply | RemoteWhole:
        """Return once a replica has taken the call; raises a `RouterError`. Whoever gets it closes it."""
        headers = tuple(_headers(session, call, asks))
        if not call.is_streamed:
            return await whole_answer(self._line, call, headers)
        reply = self._reply(call, headers, asks)
        try:
            await reply.open()
        except BaseException:
            reply.close()
            raise
        return reply

    @asynccontextmanager
    async def turn(self, key: AffinityKey, request: ChatRequest, *, asks: Asks) -> AsyncIterator[RemoteReply]:
        call, asks = chat_call(request), with_priority(asks, request.priority)
        reply = self._reply(call, tuple(_headers(key, call, asks)), asks)
        try:
            await reply.open()
            yield reply
        finally:
            await reply.aclose()

    def _reply(self, call: Call, headers: tuple[tuple[str, str], ...], asks: Asks) -> RemoteReply:
        return RemoteReply(
            line=self._line,
            call=call,
            headers=headers,
            may_continue=self._may_continue and asks.may_continue,
            must_tell_usage=self._must_tell_usage,
        )

    async def end(self, key: AffinityKey) -> None:
        """While no router answers nothing happens: the pin's time to live ends it."""
        with suppress(RouterError):
            await self._line.ask("DELETE", f"/sessions/{quote(key, safe='')}")

    async def prewarm(self, key: AffinityKey, request: ChatRequest) -> None:
        """A prewarm that nobody takes costs time in the next turn and nothing else."""
        with suppress(RouterError):
            await self._line.ask("POST", f"/sessions/{quote(key, safe='')}/prewarm", body=chat_call(request).body)

    def fleet(self) -> Fleet:
        return self._fleet

    async def look(self) -> None:
        """See the fleet once."""
        try:
            status, body = await self._line.ask("GET", "/replicas")
            states = states_of(body) if status is HTTPStatus.OK else None
        except (EngineError, ValidationError, KeyError) as error:
            self._fleet = _unseen(f"it cannot be asked ({type(error).__name__})")
        else:
            self._fleet = _unseen(f"it answers with status {status}") if states is None else _seen(states)

    async def run(self) -> None:
        """See the fleet over and over; never returns."""
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_EVERY_S)


def _headers(key: AffinityKey | None, call: Call, asks: Asks) -> Iterator[tuple[str, str]]:
    """How the router is told what a caller in its own process would say in `Asks`."""
    yield from (header for header in call.headers if header[0].lower() != "x-session-id")
    yield "x-request-id", call.request_id
    told = (
        ("x-session-id", key or ""),
        ("x-prefer-replica", asks.prefer or ""),
        ("x-session-cohort", asks.demand.cohort),
        ("x-session-kv", str(asks.demand.kv_tokens)),
        ("x-pin-mode", asks.mode or ""),
        ("x-drill-id", asks.ticket.drill),
        ("x-account-id", asks.ticket.account),
        ("x-priority", str(asks.ticket.priority) if asks.ticket.priority else ""),
        ("x-no-continue", "" if asks.may_continue else "1"),
    )
    yield from ((name, value) for name, value in told if value)


def _seen(states: Iterable[ReplicaState]) -> Fleet:
    return Fleet(
        tuple(
            Replica(
                id=state.id,
                url=state.url,
                health=Health(state.health),
                reason=state.reason,
                models=frozenset(state.models),
                is_draining=state.is_draining,
                warnings=state.warnings,
                kv_capacity_tokens=state.kv_capacity_tokens,
            )
            for state in states
        )
    )


def _unseen(why: str) -> Fleet:
    """What readiness then says: the router itself stands for its fleet."""
    return Fleet((Replica(ROUTER, "", Health.DOWN, why),))
