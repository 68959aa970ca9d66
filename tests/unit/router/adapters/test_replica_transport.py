"""A replica that goes away at any moment is a lost connection, whatever the library below makes of it."""

import httpx
import pytest
from typing_extensions import override

from router.adapters.replica_transport import ReplicaTransport


class SocketlessPool(httpx.AsyncHTTPTransport):
    """Fails as the library below does when the peer has gone before the connection is used."""

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise AttributeError("'NoneType' object has no attribute 'getpeername'")


async def test_a_connection_without_a_socket_is_a_lost_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", SocketlessPool.handle_async_request)
    async with httpx.AsyncClient(transport=ReplicaTransport(), trust_env=False) as client:
        with pytest.raises(httpx.ReadError, match="lost as it was made"):
            await client.get("http://127.0.0.1:1/health")
