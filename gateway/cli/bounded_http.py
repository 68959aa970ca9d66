"""HTTP/1.1 as uvicorn speaks it, with bounds on how much and how slowly a request may come, and refusals in our words.

The parser keeps every header it has seen and waits for the next one for ever, so a client that never comes to an end
would fill the memory, or hold its connection, before anybody asks for its key. It also takes some heads that another
server in front of us could understand differently; where two could disagree on where a request ends, or to whom it
is addressed, it is refused.
"""

import asyncio
import json
import re
from http import HTTPStatus
from typing import NoReturn

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.edge_settings import EdgeSettings
from gateway.problems import (
    CONNECTIONS_FULL,
    HEAD_TOO_LARGE,
    HTTP_MALFORMED,
    PROBLEM_JSON,
    REQUEST_LATE,
    Kind,
    plain,
)
from router.http.lost_client import UNREAD_S

MAX_HEAD_BYTES = 65_536
"""What may come in before a request, or the next piece of its body, is whole."""
MAX_HEADERS = 100
MAX_WAITING = 16
"""Requests that came together and wait for the answer to an earlier one."""
LEAST_BODY_BYTES_S = 16_384
"""A body that comes at least so fast may take as long as it needs; how long it may be is for its route to say."""

_UPGRADE = re.compile(rb"\r\nUpgrade(?=:)", re.IGNORECASE)
_HOST = re.compile(rb"(?:[A-Za-z0-9._~%!$&'()*+,;=-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")

REQUEST_S = 30.0
LAST_REQUEST_S = 0.5

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class BoundedHttp(HttpToolsProtocol):
    request_s = REQUEST_S
    """From the connection, or from the first byte of a later request, until the whole request is there."""
    last_request_s = LAST_REQUEST_S
    """From the moment at which the process begins to stop; what comes later is not answered."""
    linger_s = 1.0
    """Whoever is refused may still be sending; hanging up at once would tear the refusal out of its hands."""
    unread_s = UNREAD_S
    """What is there for a client must become less in such a time, whatever it is."""
    most_connections = EdgeSettings().max_connections

    _fruitless = 0
    """Bytes that came in since the last ones that led to something."""
    _body_bytes = 0
    _begun_at = 0.0
    _deadline: asyncio.TimerHandle | None = None
    _is_waiting = False
    _has_asked = False
    _is_in_body = False
    _is_leaving = False
    _is_deaf = False
    """What still comes is of no interest; the connection ends after what is to be said."""
    _fault: Kind = HTTP_MALFORMED
    _unread_bytes = 0
    _unread_timer: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the original has it
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            self._refuse(CONNECTIONS_FULL)
            return
        self._is_waiting = True
        self._limit_the_wait()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        if self._unread_timer is not None:
            self._unread_timer.cancel()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if self._has_ended():
            return
        self._fruitless += len(data)
        if b"pgrade" in data and (not self._has_asked or not self.cycle.more_body):
            data = _without_upgrade(data)
        super().data_received(data)
        if self._fruitless > MAX_HEAD_BYTES and not self._has_ended():
            self._refuse(HEAD_TOO_LARGE)
        if self._is_waiting and self._deadline is None:
            # Here and not where a request begins: most are whole by now, and need no timer.
            self._limit_the_wait()

    @override
    def on_message_begin(self) -> None:
        self._expect_nothing()
        self._is_waiting = True
        super().on_message_begin()

    @override
    def on_headers_complete(self) -> None:
        self._fruitless = 0
        self.check_head()
        super().on_headers_complete()
        self._has_asked = self._is_in_body = True
        # What comes behind the body as a trailer is no header of the request.
        self.headers = []
        if self._is_leaving:
            self.cycle.keep_alive = False

    @override
    def on_body(self, body: bytes) -> None:
        self._fruitless = 0
        self._body_bytes += len(body)
        super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        self._fruitless = 0
        self._is_in_body = False
        self._expect_nothing()
        super().on_message_complete()

    @override
    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self.hang_up()

    @override
    def timeout_keep_alive_handler(self) -> None:
        self.hang_up()

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_bytes = self.transport.get_write_buffer_size()
        self._unread_timer = self.loop.call_later(self.unread_s, self._abort_unless_read)

    @override
    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread_timer is not None and not self.transport.is_closing():
            self._unread_timer.cancel()
            self._unread_timer = None

    @override
    def shutdown(self) -> None:
        """Answer what is on its way, and hang up after it. The original closes at once what has not asked yet, so that
        a client that had just connected would be cut off without knowing whether it was heard.
        """
        self._is_leaving = True
        self.loop.call_later(self.last_request_s, self._leave)
        if self._has_asked and not self.cycle.response_complete:
            self.cycle.keep_alive = False

    def _leave(self) -> None:
        # The original would wait for the rest of a body, and with it the end of the whole process.
        if self._has_asked and self.cycle.more_body and not self.cycle.response_started:
            self.transport.close()
        super().shutdown()

    @override
    def send_400_response(self, msg: str) -> None:
        self._refuse(self._fault)

    def check_head(self) -> None:
        """Ends the parsing where the head is none that all servers understand alike."""
        if len(self.headers) > MAX_HEADERS or len(self.pipeline) >= MAX_WAITING:
            self._give_up(HEAD_TOO_LARGE)
        version, hosts = self.parser.get_http_version(), 0
        for name, value in self.headers:
            if name == b"host":
                hosts += 1
                if _HOST.fullmatch(value) is None:
                    self._give_up(HTTP_MALFORMED)
            elif name == b"transfer-encoding" and (version == "1.0" or value.strip().lower() != b"chunked"):
                self._give_up(HTTP_MALFORMED)
        is_fit = version in ("1.0", "1.1") and (hosts == 1 or (hosts == 0 and version == "1.0"))
        if not is_fit or self.parser.get_method() == b"CONNECT":
            self._give_up(HTTP_MALFORMED)

    def _give_up(self, kind: Kind) -> NoReturn:
        self._fault = kind
        raise ValueError(kind.code)  # the parser stops, and the refusal is sent by who feeds it

    def _has_ended(self) -> bool:
        return self._is_deaf or self.transport.is_closing()

    def _limit_the_wait(self) -> None:
        self._begun_at, self._body_bytes = self.loop.time(), 0
        self._deadline = self.loop.call_later(self.request_s, self._hurry)

    def _hurry(self) -> None:
        """The time is over, unless a body comes in that is long and not slow."""
        left = self._begun_at + self.request_s + self._body_bytes / LEAST_BODY_BYTES_S - self.loop.time()
        if left > 0 and self._is_in_body and not self.cycle.response_complete:
            self._deadline = self.loop.call_later(left, self._hurry)
        elif self._has_asked or self._fruitless:
            self._refuse(REQUEST_LATE)
        else:
            self.transport.close()

    def _expect_nothing(self) -> None:
        self._is_waiting = False
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def hang_up(self) -> None:
        """What is still on its way may arrive; closing alone would wait for that without end."""
        self.transport.close()
        if self.transport.get_write_buffer_size() and self._unread_timer is None:
            self._unread_timer = self.loop.call_later(self.unread_s, self.transport.abort)

    def _abort_unless_read(self) -> None:
        before, self._unread_bytes = self._unread_bytes, self.transport.get_write_buffer_size()
        if self._unread_bytes >= before:
            self.transport.abort()
        else:
            self._unread_timer = self.loop.call_later(self.unread_s, self._abort_unless_read)

    def _refuse(self, kind: Kind) -> None:
        """Answer what is faulty and hang up, but never in the place of another answer."""
        self._expect_nothing()
        self._is_deaf = True
        _log.info("refused before it was a request", code=kind.code)
        if self._has_asked and not self._is_in_body and not self.cycle.response_complete:
            # What came before it is whole and gets its answer; the connection ends with that.
            self.cycle.keep_alive = False
            return
        if self._is_in_body and (self.pipeline or self.cycle.response_started):
            self.transport.close()
            return
        self.transport.write(_answer(kind, *self.told(kind)))
        self.loop.call_later(self.linger_s, self.hang_up)

    def told(self, kind: Kind) -> tuple[str, str]:
        """The content type and the body of a refusal."""
        return PROBLEM_JSON, json.dumps(plain(kind).body(), separators=(",", ":"))


def within(edge: EdgeSettings) -> type[BoundedHttp]:
    """The protocol with the bounds of these settings."""

    class Bounded(BoundedHttp):
        request_s = edge.request_s
        most_connections = edge.max_connections

    return Bounded


def _answer(kind: Kind, content_type: str, body: str) -> bytes:
    status = HTTPStatus(kind.status)
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(body)}",
        *(("Retry-After: 5",) if status is HTTPStatus.SERVICE_UNAVAILABLE else ()),
        "Connection: close",
    )
    return "\r\n".join((*head, "", body)).encode("ascii")


def _without_upgrade(data: bytes) -> bytes:
    """We speak nothing else and may pass over the offer, which some clients make with every request (h2c); the parser
    would take the body for the beginning of what was offered. Under another name of the same length it is no offer.
    """
    head, end, rest = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(b"\r\nX-Offer", head) + end + rest
