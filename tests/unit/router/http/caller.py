"""A caller of the ASGI application without a server, and a router that does what it is told."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from router.domain.asks import Asks
from router.domain.exchange import Call
from router.domain.fleet import AffinityKey, Fleet, Health, Replica, ReplicaId
from router.domain.pin import PinDecision
from router.http.asgi import CLIENT, Client, Message, Receive, Scope, Send

REPLICA = ReplicaId("replica-1")
EVENT = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}\n\n'


class FakeReply:
    """Reads what was put in, piece by piece: bytes, an error to raise, or an event to wait for."""

    replica = REPLICA
    pin = PinDecision.KEPT
    content_type = "application/json"

    def __init__(self, pieces: Sequence[bytes | Exception | asyncio.Event]) -> None:
        self._pieces = list(pieces)
        self.closed = 0
        self.give: Callable[[bytes], bool] | None = None

    async def read(self) -> bytes:
        if not self._pieces:
            return b""
        match self._pieces.pop(0):
            case bytes(data):
                return data
            case asyncio.Event() as event:
                await event.wait()
                return await self.read()
            case error:
                raise error

    def short_cut(self, give: Callable[[bytes], bool]) -> None:
        self.give = give

    def close(self) -> None:
        self.closed += 1


class FakeCarrier:
    """Answers every call with the reply, or raises."""

    def __init__(self, *, reply: FakeReply | None = None, error: Exception | None = None) -> None:
        self.reply = reply or FakeReply([b"{}"])
        self._error = error
        self.asked = asyncio.Event()
        self.taken: list[tuple[Call, AffinityKey | None, Asks]] = []
        self.models = frozenset({"smollm2"})

    async def carry(self, call: Call, *, session: AffinityKey | None, asks: Asks) -> FakeReply:
        self.taken.append((call, session, asks))
        self.asked.set()
        if self._error is not None:
            raise self._error
        return self.reply

    def fleet(self) -> Fleet:
        return Fleet((Replica(REPLICA, "http://a", Health.READY, models=self.models),))


class FakeClient(Client):
    def __init__(self) -> None:
        self.act: Callable[[], None] | None = None
        self.aborted = 0
        self.takes_at_once = False
        self.taken: list[bytes] = []

    @override
    def when_lost(self, act: Callable[[], None] | None) -> None:
        self.act = act

    @override
    def send_now(self, data: bytes) -> bool:
        if self.takes_at_once:
            self.taken.append(data)
        return self.takes_at_once

    @override
    def abort(self) -> None:
        self.aborted += 1
        self.lose()

    def lose(self) -> None:
        if self.act is not None:
            self.act()


@dataclass
class Heard:
    """What was sent to the caller."""

    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""
    pieces: list[bytes] = field(default_factory=list)
    has_ended: bool = False

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        code: str = self.json()["error"]["code"]
        return code


App = Callable[[Scope, Receive, Send], "asyncio.Future[None] | Any"]


@dataclass
class Caller:
    """Sends one request; without a client of ours, the disconnect comes by `receive` once `gone` is set."""

    app: App
    client: FakeClient | None = field(default_factory=FakeClient)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    heard: Heard = field(default_factory=Heard)

    async def call(self, method: str, path: str, body: bytes = b"", **headers: str) -> Heard:
        await self.app(_scope(method, path, headers, self.client), self._receiver([body]), self._send)
        return self.heard

    async def post(self, path: str, body: object, **headers: str) -> Heard:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.call("POST", path, raw, **{"content_type": "application/json", **headers})

    async def post_in_pieces(self, path: str, pieces: list[bytes]) -> Heard:
        scope = _scope("POST", path, {"content_type": "application/json"}, self.client)
        await self.app(scope, self._receiver(pieces), self._send)
        return self.heard

    def _receiver(self, pieces: list[bytes]) -> Receive:
        waiting = list(pieces)

        async def receive() -> Message:
            if waiting:
                piece = waiting.pop(0)
                return {"type": "http.request", "body": piece, "more_body": bool(waiting)}
            await self.gone.wait()
            return {"type": "http.disconnect"}

        return receive

    async def _send(self, message: Message) -> None:
        heard = self.heard
        if message["type"] == "http.response.start":
            heard.status, heard.headers = message["status"], dict(message["headers"])
            return
        heard.pieces.append(message.get("body", b""))
        heard.body += message.get("body", b"")
        heard.has_ended = not message.get("more_body", False)


def _scope(method: str, path: str, headers: dict[str, str], client: FakeClient | None) -> Scope:
    path, _, query = path.partition("?")
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
    }
    if client is not None:
        scope["extensions"] = {CLIENT: client}
    return scope
