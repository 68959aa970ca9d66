"""HTTP/1.1 for the router alone: bounded as the gateway's, refusing in OpenAI's shape, telling of lost clients."""

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus

from typing_extensions import override

from gateway.cli.bounded_http import BoundedHttp
from gateway.problems import Kind
from router.http.asgi import CLIENT, Client


class RouterHttp(BoundedHttp):
    _client: "_Connection"

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the original has it
        super().connection_made(transport)
        self._client = _Connection(transport)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._client.lose()

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {CLIENT: self._client}  # type: ignore[dict-item]  # ASGI has no word for objects

    @override
    def told(self, kind: Kind) -> tuple[str, str]:
        phrase = HTTPStatus(kind.status).phrase
        error = {"message": phrase, "type": "invalid_request_error", "param": None, "code": kind.code}
        return "application/json", json.dumps({"error": error}, separators=(",", ":"))


class _Connection(Client):
    __slots__ = ("_act", "_is_lost", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._act: Callable[[], None] | None = None
        self._is_lost = False

    @override
    def when_lost(self, act: Callable[[], None] | None) -> None:
        self._act = act
        if self._is_lost and act is not None:
            act()

    @override
    def abort(self) -> None:
        self._transport.abort()

    def lose(self) -> None:
        self._is_lost = True
        if self._act is not None:
            self._act()
