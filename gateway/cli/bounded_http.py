"""HTTP/1.1 as uvicorn speaks it, with bounds on how much and how slowly a request may come, and refusals in our words.

The parser keeps every header it has seen and waits for the next one for ever, so a client that never comes to an end
would fill the memory, or hold its connection, before anybody asks for its key.
"""

import asyncio
import json
import re
from http import HTTPStatus

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.problems import HEAD_TOO_LARGE, HTTP_MALFORMED, PROBLEM_JSON, Kind, plain

MAX_HEAD_BYTES = 65_536
"""What may come in before a request, or the next piece of its body, is whole."""

_UPGRADE = re.compile(rb"\r\nUpgrade(?=:)", re.IGNORECASE)

REQUEST_S = 30.0
LAST_REQUEST_S = 0.5


class BoundedHttp(HttpToolsProtocol):
    request_s = REQUEST_S
    """From the connection, or from the first byte of a later request, until the whole request is there."""
    last_request_s = LAST_REQUEST_S
    """From the moment at which the process begins to stop; what comes later is not answered."""

    _fruitless = 0
    """Bytes that came in since the last ones that led to something."""
    _deadline: asyncio.TimerHandle | None = None
    _is_waiting = False
    _has_asked = False
    _is_leaving = False

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the original has it
        super().connection_made(transport)
        self._is_waiting = True
        self._limit_the_wait()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        self._fruitless += len(data)
        if b"pgrade" in data and (not self._has_asked or not self.cycle.more_body):
            data = _without_upgrade(data)
        super().data_received(data)
        if self._fruitless > MAX_HEAD_BYTES and not self.transport.is_closing():
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
        super().on_headers_complete()
        self._has_asked = True
        # What comes behind the body as a trailer is no header of the request.
        self.headers = []
        if self._is_leaving:
            self.cycle.keep_alive = False

    @override
    def on_body(self, body: bytes) -> None:
        self._fruitless = 0
        super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        self._fruitless = 0
        self._expect_nothing()
        super().on_message_complete()

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
        self._refuse(HTTP_MALFORMED)

    def _limit_the_wait(self) -> None:
        self._deadline = self.loop.call_later(self.request_s, self.transport.close)

    def _expect_nothing(self) -> None:
        self._is_waiting = False
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, kind: Kind) -> None:
        """Answer and hang up; where another answer has begun, only hang up."""
        if not self._has_asked or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_answer(kind, *self.told(kind)))
        self.transport.close()

    def told(self, kind: Kind) -> tuple[str, str]:
        """The content type and the body of a refusal."""
        return PROBLEM_JSON, json.dumps(plain(kind).body(), separators=(",", ":"))


def _answer(kind: Kind, content_type: str, body: str) -> bytes:
    status = HTTPStatus(kind.status)
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return "\r\n".join((*head, "", body)).encode("ascii")


def _without_upgrade(data: bytes) -> bytes:
    """We speak nothing else and may pass over the offer, which some clients make with every request (h2c); the parser
    would take the body for the beginning of what was offered. Under another name of the same length it is no offer.
    """
    head, end, rest = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(b"\r\nX-Offer", head) + end + rest
