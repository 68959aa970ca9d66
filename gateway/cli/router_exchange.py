"""One request and its answer as the router's HTTP carries them: what uvicorn does here, with less of it per request.

The router says neither HEAD nor trailers, and its headers come from few places, so one look at the whole head finds
what must not stand in it; and the head of an answer whose length is known leaves in one piece with the answer.
"""

from typing import TYPE_CHECKING

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent, ASGISendEvent

_NO_BODY = frozenset((204, 304))
_END = b"0\r\n\r\n"


class RouterExchange(RequestResponseCycle):
    _head = b""
    """Of an answer whose length is known, until its body is there."""
    _ends_with_connection = False

    @override
    async def receive(self) -> "ASGIReceiveEvent":
        if self.more_body or not self.body:
            return await super().receive()
        # The whole body is there, as it is with most requests.
        if self.disconnected or self.response_complete:
            return {"type": "http.disconnect"}
        self.message_event.clear()
        body, self.body = bytes(self.body), bytearray()
        return {"type": "http.request", "body": body, "more_body": False}

    @override
    async def send(self, message: "ASGISendEvent") -> None:
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if message["type"] == "http.response.body":
            self._send_body(message.get("body", b""), is_last=not message.get("more_body", False))
        elif message["type"] == "http.response.start" and not self.response_started:
            self._start(message["status"], [*self.default_headers, *message["headers"]])
        else:
            raise RuntimeError(f"{message['type']} has no place here")

    def send_now(self, data: bytes) -> bool:
        """As `send` does it with a piece of a stream, if that needs no waiting."""
        if self.flow.write_paused or self.disconnected or not self.chunked_encoding or self.response_complete:
            return False
        self.transport.write(b"%x\r\n%b\r\n" % (len(data), data))
        return True

    def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.response_started = True
        self.waiting_for_100_continue = False
        length = dict(headers).get(b"content-length")
        is_open = length is None and status not in _NO_BODY
        self.chunked_encoding = is_open and self.scope["http_version"] != "1.0"
        self._ends_with_connection = is_open and not self.chunked_encoding
        self.expected_content_length = 0 if length is None else int(length)
        if self.chunked_encoding:
            headers.append((b"transfer-encoding", b"chunked"))
        if not self.keep_alive:
            headers.append((b"connection", b"close"))
        lines = b"".join([b"%b: %b\r\n" % header for header in headers])
        if lines.count(b"\n") != len(headers) or lines.count(b"\r") != len(headers) or b"\0" in lines:
            raise RuntimeError("a header holds what no header may hold")
        head = b"%b%b\r\n" % (STATUS_LINE[status], lines)
        if self.expected_content_length and self.scope["method"] != "HEAD":
            self._head = head
        else:
            self.transport.write(head)

    def _send_body(self, body: bytes, *, is_last: bool) -> None:
        if not self.response_started or self.response_complete:
            raise RuntimeError("a body has no place here")
        if self.scope["method"] == "HEAD":
            self.expected_content_length = 0
        elif self.chunked_encoding:
            self._send_chunk(body, is_last=is_last)
        elif self._ends_with_connection:
            self.transport.write(body)
        else:
            self._send_part(body)
        if is_last:
            self._complete()

    def _send_chunk(self, body: bytes, *, is_last: bool) -> None:
        end = _END if is_last else b""
        if body:
            self.transport.write(b"%x\r\n%b\r\n%b" % (len(body), body, end))
        elif end:
            self.transport.write(end)

    def _send_part(self, body: bytes) -> None:
        self.expected_content_length -= len(body)
        if self.expected_content_length < 0:
            raise RuntimeError("the answer is longer than was told")
        head, self._head = self._head, b""
        if head or body:
            self.transport.write(head + body)

    def _complete(self) -> None:
        if self.expected_content_length:
            raise RuntimeError("the answer is shorter than was told")
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()
