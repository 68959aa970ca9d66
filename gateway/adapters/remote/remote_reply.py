"""One streamed reply of a router that runs alone, as events or as pieces of text.

Behind the address there may be many routers. One that dies takes its streams with it; then the reply goes on through
another one just as a router lets it go on at another replica, with the same `Relay`.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Self, assert_never

from gateway.adapters.remote.router_refusals import ROUTER, pin_of, refusal
from gateway.domain.joint_comments import JointComments
from gateway.ports import LineReply, RouterLine
from router.domain.engine_stream import EngineStream
from router.domain.exchange import Call, StreamItem
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from router.domain.relay import Relay
from router.domain.resume import AskAgain, Complete, Continue, Stuck
from router.errors import EngineBroke, EngineError, RouterError, StreamBroken

_ROUTERS_ASKED = 3
_PAUSES_S = (0.1, 0.5)
_END_OF_BODY_S = 0.5
# The router's own last word; inside JSON text the quotes are escaped, so nobody can forge it.
_GAVE_UP = b'data: {"error":'


class RemoteReply:
    """One reply, through as many routers as it takes."""

    def __init__(
        self,
        *,
        line: RouterLine,
        call: Call,
        headers: Sequence[tuple[str, str]],
        may_continue: bool,
        must_tell_usage: bool = True,
    ) -> None:
        self._line = line
        self._headers = headers
        self._may_continue = may_continue
        self._relay = Relay(call, token_ids=may_continue, must_tell_usage=must_tell_usage)
        self._joints = JointComments()
        self._items: deque[StreamItem] = deque()
        self._asked = 0
        self._reply: LineReply | None = None
        self._began_at = ROUTER
        self._pin = PinDecision.NONE
        self._gave_up = False
        self._stream = EngineStream(replica=ROUTER)

    @property
    def replica(self) -> ReplicaId:
        return ReplicaId(self._joints.replica) if self._joints.replica else self._began_at

    @property
    def pin(self) -> PinDecision:
        return self._pin

    @property
    def continued(self) -> int:
        return self._joints.count + self._relay.continued

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamItem:
        while not self._items:
            if self._stream.has_finished:
                raise StopAsyncIteration
            self._items.extend(self._stream.feed(await self.read()))
        return self._items.popleft()

    async def open(self) -> None:
        """Return once a replica has taken the call."""
        while True:
            try:
                return await self._ask(self._relay.call)
            except RouterError as error:
                await self._pause(error)

    async def aclose(self) -> None:
        reply = self._reply
        if reply is None:
            return
        try:
            if self._stream.has_finished:
                with suppress(EngineError, TimeoutError):
                    # Only the end of the body is missing; who waits for it gets a connection that can be used again.
                    async with asyncio.timeout(_END_OF_BODY_S):
                        while await reply.read():
                            pass
        finally:
            reply.close()

    def close(self) -> None:
        """Cut what has not ended; may be called twice."""
        if self._reply is not None:
            self._reply.close()

    async def _ask(self, call: Call) -> None:
        self._asked += 1
        reply = await self._line.stream(call.path, headers=self._headers, body=call.body)
        self._reply = reply
        if reply.status != HTTPStatus.OK:
            found = await refusal(reply, model=call.model)
            self._gave_up = found.is_final
            raise found.error
        if self._relay.has_begun:
            self._joints.moved_to(reply.header("x-replica-id"))
        else:
            self._begin(reply)

    def _begin(self, reply: LineReply) -> None:
        self._began_at = ReplicaId(reply.header("x-replica-id") or ROUTER)
        self._pin = pin_of(reply)

    async def read(self) -> bytes:
        """Whole events; empty at the end. For a caller who wants no pieces of text."""
        while True:
            assert self._reply is not None  # noqa: S101  nothing is read before it was opened
            try:
                data = await self._reply.read()
                self._watch(data)
                out = self._relay.feed(data) if data else self._relay.end()
            except (EngineError, StreamBroken) as error:
                out = await self._go_on(error)
                data = out or b"."
            if out or not data:
                return out

    def _watch(self, data: bytes) -> None:
        self._joints.feed(data)
        if _GAVE_UP in data:
            self._gave_up = True

    async def _go_on(self, error: RouterError) -> bytes:
        """Through another router; the bytes that end the reply if nothing of it is missing."""
        while True:
            await self._pause(error)
            match self._relay.resume(replica=ROUTER):
                case AskAgain(call) | Continue(call):
                    try:
                        await self._ask(call)
                    except RouterError as next_error:
                        error = next_error
                    else:
                        return b""
                case Complete(data):
                    return data
                case Stuck():
                    raise self._as_told(error)
                case never:
                    assert_never(never)

    async def _pause(self, error: RouterError) -> None:
        """Give back what has failed, and wait a moment for another router; raises the error if none shall be asked."""
        self.close()
        if self._gave_up or self._asked >= _ROUTERS_ASKED or (self._relay.has_begun and not self._may_continue):
            raise self._as_told(error)
        await asyncio.sleep(_PAUSES_S[min(self._asked, len(_PAUSES_S)) - 1])

    def _as_told(self, error: RouterError) -> RouterError:
        return EngineBroke(self.replica, str(error)) if isinstance(error, StreamBroken) else error
