"""One answer of a router that runs alone, in one piece. The router itself asks other replicas for it."""

from collections.abc import Iterable
from http import HTTPStatus

from gateway.adapters.remote.router_refusals import ROUTER, pin_of, refusal
from gateway.ports import LineReply, RouterLine
from router.domain.exchange import Call
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision


class RemoteWhole:
    """An answer that has come."""

    def __init__(self, reply: LineReply) -> None:
        self._reply = reply
        self._is_read = False

    @property
    def replica(self) -> ReplicaId:
        return ReplicaId(self._reply.header("x-replica-id") or ROUTER)

    @property
    def pin(self) -> PinDecision:
        return pin_of(self._reply)

    async def read(self) -> bytes:
        """All of it, and then nothing; raises an `EngineError`."""
        if self._is_read:
            return b""
        self._is_read = True
        return await self._reply.body()

    def close(self) -> None:
        self._reply.close()


async def whole_answer(line: RouterLine, call: Call, headers: Iterable[tuple[str, str]]) -> RemoteWhole:
    """Raises a `RouterError`."""
    reply = await line.whole(call.path, headers=headers, body=call.body)
    if reply.status != HTTPStatus.OK:
        raise (await refusal(reply, model=call.model)).error
    return RemoteWhole(reply)
