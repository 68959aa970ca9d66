"""HTTP/1.1 for the router alone: bounded as the gateway's, refusing in OpenAI's shape, telling of lost clients.

Uvicorn's protocol does per request what only some applications need; here the same is done once per connection, or
only where it is needed. Timers are moved instead of made anew.
"""

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from gateway.cli.bounded_http import BoundedHttp
from gateway.cli.router_exchange import RouterExchange
from gateway.problems import Kind
from router.http.asgi import CLIENT, Client

_ASGI = {"version": "3.0", "spec_version": "2.3"}
_HIGH_WATER_BYTES = 65_536


class RouterHttp(BoundedHttp):
    _client: "_Connection"
    _waiting: "_Waiting | None" = None
    _following: RequestResponseCycle | None = None
    """What came together with the request that is being served, and is next."""
    _is_working = False
    _idle_since: float | None = None
    """None: a request is being heard or answered."""
    _idle_timer: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the original has it
        super().connection_made(transport)
        self._client = _Connection(transport)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._client.lose()
        if self._waiting is not None:
            self._waiting.called.set_result(None)
            self._waiting = None

    @override
    def on_message_begin(self) -> None:
        if self._deadline is not None:
            self._expect_nothing()
        self._is_waiting = True
        self._idle_since = None
        self.url = b""
        self.expect_100_continue = False
        self.headers = []

    @override
    def on_headers_complete(self) -> None:
        self._fruitless = 0
        self.check_head()
        parser, before = self.parser, self.cycle
        keep_alive = parser.should_keep_alive() and parser.get_http_version() != "1.0"
        self.scope = self._scope_of(parser.get_method().decode("ascii"))  # type: ignore[assignment]  # our own extension
        self.cycle = RouterExchange(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=keep_alive,
            on_response=self.on_response_complete,
        )
        self._has_asked = self._is_in_body = True
        # What comes behind the body as a trailer is no header of the request.
        self.headers = []
        if before is None or before.response_complete:  # type: ignore[redundant-expr]  # it begins as None
            self._serve(self.cycle)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))

    @override
    def on_body(self, body: bytes) -> None:
        self._fruitless = 0
        self._body_bytes += len(body)
        cycle = self.cycle
        if not cycle.response_complete:
            cycle.body += body
            if len(cycle.body) > _HIGH_WATER_BYTES:
                self.flow.pause_reading()
            cycle.message_event.set()

    @override
    def on_message_complete(self) -> None:
        self._fruitless = 0
        self._is_waiting = self._is_in_body = False
        if self._deadline is not None:
            self._expect_nothing()
        cycle = self.cycle
        if not cycle.response_complete:
            cycle.more_body = False
            cycle.message_event.set()

    @override
    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            self.hang_up()
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._serve(self.pipeline.pop()[0])
            return
        self._idle_since = self.loop.time()
        if self._idle_timer is None:
            self._idle_timer = self.loop.call_later(self.timeout_keep_alive, self._close_if_idle)

    @override
    def told(self, kind: Kind) -> tuple[str, str]:
        phrase = HTTPStatus(kind.status).phrase
        error = {"message": phrase, "type": "invalid_request_error", "param": None, "code": kind.code}
        return "application/json", json.dumps({"error": error}, separators=(",", ":"))

    @override
    def _unset_keepalive_if_required(self) -> None:
        """Bytes that begin no request leave the connection idle."""

    def _serve(self, exchange: RequestResponseCycle) -> None:
        self._idle_since = None
        if isinstance(exchange, RouterExchange):
            self._client.exchange = exchange
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self.tasks.add(waiting.worker)
            waiting.called.set_result(exchange)
        elif self._is_working:
            self._following = exchange
        else:
            self._is_working = True
            self.tasks.add(self.loop.create_task(self._work(exchange)))

    async def _work(self, exchange: RequestResponseCycle | None) -> None:
        """Serve one request after the other: a task for each would cost more than the parsing of its head."""
        worker = _this_task()
        try:
            while exchange is not None:
                await exchange.run_asgi(self.app)
                exchange, self._following = self._following, None
                if exchange is None and not self.transport.is_closing():
                    # The server waits at its end for the tasks it knows; this one has nothing to do now.
                    self.tasks.discard(worker)
                    self._waiting = _Waiting(worker, self.loop.create_future())
                    exchange = await self._waiting.called
        finally:
            self._is_working, self._waiting = False, None
            self.tasks.discard(worker)

    def _close_if_idle(self) -> None:
        self._idle_timer = None
        if self._idle_since is None:
            return
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left > 0 or self.flow.write_paused:
            self._idle_timer = self.loop.call_later(left if left > 0 else self.unread_s, self._close_if_idle)
        else:
            self.hang_up()

    def _scope_of(self, method: str) -> dict[str, object]:
        raw_path, _, query = _in_origin_form(self.url).partition(b"?")
        path = raw_path.decode("latin-1")
        return {
            "type": "http",
            "asgi": _ASGI,
            "http_version": self.parser.get_http_version(),
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "root_path": "",
            "method": method,
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw_path,
            "query_string": query.partition(b"#")[0],
            "headers": self.headers,
            "extensions": {CLIENT: self._client},
        }


class _Waiting(NamedTuple):
    """The connection's task between two requests; None ends it."""

    worker: "asyncio.Task[None]"
    called: "asyncio.Future[RequestResponseCycle | None]"


def _this_task() -> "asyncio.Task[None]":
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("not in a task")
    return task


def _in_origin_form(url: bytes) -> bytes:
    """Without scheme and host, which a client may write as if to a proxy."""
    if url.startswith(b"/"):
        return url
    try:
        parts = urlsplit(url.decode("latin-1"))
    except ValueError:
        return url  # nothing is there
    return f"{parts.path}?{parts.query}".encode("latin-1")


class _Connection(Client):
    __slots__ = ("_act", "_is_lost", "_transport", "exchange")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._act: Callable[[], None] | None = None
        self._is_lost = False
        self.exchange: RouterExchange | None = None
        """The one that is being served."""

    @override
    def when_lost(self, act: Callable[[], None] | None) -> None:
        self._act = act
        if self._is_lost and act is not None:
            act()

    @override
    def send_now(self, data: bytes) -> bool:
        return self.exchange is not None and self.exchange.send_now(data)

    @override
    def abort(self) -> None:
        self._transport.abort()

    def lose(self) -> None:
        self._is_lost = True
        if self._act is not None:
            self._act()
