"""The operators' desk of a router that runs alone."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from urllib.parse import quote

from typing_extensions import override

from gateway.adapters.remote.replica_states import state_of, states_of
from gateway.adapters.remote.router_refusals import code_of
from gateway.domain.replica_state import ReplicaState
from gateway.errors import RouterUnreachable
from gateway.ports import FleetDesk, RouterLine
from router.domain.decision import Decision
from router.domain.decision_json import decision_from_json
from router.domain.fleet import ReplicaId
from router.errors import BoardUnavailable, DecisionsUnavailable, EngineError, ReplicaUnknown

_NOT_THERE = "not_found"


class RemoteFleetDesk(FleetDesk):
    """The router's own list and orders, whichever of several answers: they share one board."""

    def __init__(self, *, line: RouterLine) -> None:
        self._line = line

    @override
    async def replicas(self) -> Sequence[ReplicaState]:
        with _readable():
            return states_of(await self._asked("GET", "/replicas"))

    @override
    async def replica(self, replica: ReplicaId) -> ReplicaState:
        with _readable():
            return state_of(await self._asked("GET", _at(replica), of=replica))

    @override
    async def drain(self, replica: ReplicaId, *, within_s: float | None) -> None:
        body = b"{}" if within_s is None else json.dumps({"within_s": within_s}).encode()
        await self._asked("POST", f"{_at(replica)}/drain", body, of=replica)

    @override
    async def undo_drain(self, replica: ReplicaId) -> None:
        await self._asked("DELETE", f"{_at(replica)}/drain", of=replica)

    @override
    async def decision(self, request_id: str) -> Decision | None:
        status, answer = await self._called("GET", f"/decisions/{quote(request_id, safe='')}")
        if status == HTTPStatus.NOT_FOUND and code_of(answer) == _NOT_THERE:
            return None
        with _readable():
            return decision_from_json(_good(status, answer))

    async def _asked(self, method: str, path: str, body: bytes = b"", *, of: str = "") -> bytes:
        status, answer = await self._called(method, path, body)
        return _good(status, answer, of=of)

    async def _called(self, method: str, path: str, body: bytes = b"") -> tuple[HTTPStatus, bytes]:
        try:
            return await self._line.ask(method, path, body=body)
        except EngineError as error:
            raise RouterUnreachable(error.detail) from error


def _good(status: HTTPStatus, answer: bytes, *, of: str = "") -> bytes:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return answer
    match code_of(answer):
        case "replica_not_found":
            raise ReplicaUnknown(of)
        case "board_unavailable":
            raise BoardUnavailable
        case "decisions_unavailable":
            raise DecisionsUnavailable
        case code:
            raise RouterUnreachable(f"the router answers {status} {code}")


@contextmanager
def _readable() -> Iterator[None]:
    """What cannot be understood is as good as no answer."""
    try:
        yield
    except (ValueError, KeyError) as error:
        raise RouterUnreachable("the router's answer cannot be read") from error


def _at(replica: ReplicaId) -> str:
    return f"/replicas/{quote(replica, safe='')}"
