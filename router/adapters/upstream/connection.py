"""One connection that carries one request at a time.

Bytes go from `data_received` through the parser into the reply in one go; no task and no timer belongs to a connection.
It is given back (`on_free`) once a reply has ended and the next request may follow on it, and it is cut in every other
case: whatever remains unclear about where an answer ends must not meet the next request.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import cast

import httptools
from typing_extensions import override

from router.adapters.upstream.alarm import Alarm
from router.adapters.upstream.errors import AnswerBroken, ConnectionDropped, NoAnswer, UpstreamError
from router.adapters.upstream.reply import Headers, Reply
from router.adapters.upstream.target import Origin
from router.domain.patience import Patience

MAX_UNREAD_BYTES = 1 << 18
# Heads, trailers, chunk headers and interim answers: all that comes without moving a body on.
_MAX_BARREN_BYTES = 1 << 16
_OK = 200


class Connection(asyncio.Protocol):
    """Whoever gets it from the loop asks with it at once, or aborts it."""

    # Of the answer that is coming; anew with each request.
    _barren: int
    """Bytes since the body last grew."""
    _is_over: bool
    _is_surplus: bool
    """More came than one answer."""
    _may_stay: bool
    _ends_with_connection: bool

    def __init__(
        self, *, origin: Origin, on_free: Callable[["Connection"], None], on_lost: Callable[["Connection"], None]
    ) -> None:
        self.origin = origin
        self.idle_since = 0.0
        self._on_free = on_free
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._alarm = Alarm(self._loop)
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._reply: Reply | None = None
        self._headers: Headers = []
        self._is_paused = False
        self._forget_answer()

    @property
    def is_usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def ask(self, request: bytes, patience: Patience) -> Reply:
        reply = Reply(line=self, patience=patience, loop=self._loop, alarm=self._alarm)
        if self._transport is None or self._transport.is_closing():
            reply.fail(ConnectionDropped("the connection was lost as it was made"))
            return reply
        self._forget_answer()
        self._reply = reply
        self._transport.write(request)
        return reply

    def abort(self) -> None:
        self._reply = None
        if self._transport is not None:
            self._transport.abort()

    def break_off(self, why: str) -> None:
        """Cut it, and let the reply say why."""
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.fail(AnswerBroken(why) if reply.status else NoAnswer(why))
        self.abort()

    def give_up(self, asked_before: float) -> None:
        if self._reply is not None:
            self._reply.give_up(asked_before)

    def resume(self) -> None:
        if self._is_paused and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._parser = httptools.HttpResponseParser(self)
        if (sock := transport.get_extra_info("socket")) is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @override
    def data_received(self, data: bytes) -> None:
        if self._reply is None or self._parser is None:
            # Nobody asked: what comes before the next request must not be taken for its answer.
            self.abort()
            return
        self._barren += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._is_surplus = True
            if not self._is_over:
                self.break_off(str(error))
                return
        if self._is_over:
            self._end()
        elif self._barren > _MAX_BARREN_BYTES:
            self.break_off("too many bytes that are no body")
        elif (reply := self._reply) is not None:
            reply.arrived()

    @override
    def eof_received(self) -> None:
        """Half-open connections are of no use; the loss that follows tells the reply."""

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        # The parser holds this object's methods; without this the two would wait for the garbage collector.
        self._parser = self._transport = None
        reply, self._reply = self._reply, None
        self._on_lost(self)
        if reply is not None:
            if reply.status and self._ends_with_connection and exc is None:
                reply.finish()
            else:
                reply.fail(self._loss(reply, exc))
        self._alarm.stop()

    def on_message_begin(self) -> None:
        self._is_surplus = self._is_over

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        status, headers = self._status(), self._headers
        self._headers = []
        if status < _OK or self._is_over or self._reply is None:
            return
        names = dict(headers)
        self._ends_with_connection = b"content-length" not in names and b"transfer-encoding" not in names
        self._reply.begin(status, headers)

    def on_body(self, data: bytes) -> None:
        self._barren = 0
        reply = self._reply
        if reply is None or self._is_over:
            return
        reply.add(data)
        if reply.unread > MAX_UNREAD_BYTES and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        if self._status() >= _OK and not self._is_over:
            self._is_over = True
            self._may_stay = self._parser is not None and self._parser.should_keep_alive()

    def _status(self) -> int:
        return self._parser.get_status_code() if self._parser is not None else 0

    def _forget_answer(self) -> None:
        self._barren = 0
        self._is_over = False
        self._is_surplus = False
        self._may_stay = False
        self._ends_with_connection = False

    def _end(self) -> None:
        reply, self._reply = self._reply, None
        transport = self._transport
        # An answer that came before the request was written out leaves the rest of it in the way of the next one.
        is_clean = self._may_stay and not self._is_surplus and transport is not None and self.is_usable
        if is_clean and transport is not None and not transport.get_write_buffer_size():
            self.resume()
            self._on_free(self)
        else:
            self.abort()
        if reply is not None:
            reply.finish()

    def _loss(self, reply: Reply, cause: Exception | None) -> UpstreamError:
        detail = f": {cause}" if cause is not None and str(cause) else ""
        if reply.status:
            return AnswerBroken(f"the answer was cut off{detail}")
        if self._barren:
            return NoAnswer(f"the connection ended within the answer's head{detail}")
        return ConnectionDropped(f"the connection was lost before the answer{detail}")
