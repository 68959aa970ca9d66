"""What may be sent of an answer, and in which order."""

import asyncio
import logging
from typing import Any

import pytest
from typing_extensions import override
from uvicorn.protocols.http.flow_control import FlowControl

from gateway.cli.router_exchange import RouterExchange

START = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]}
STREAM = {"type": "http.response.start", "status": 200, "headers": []}


class Line(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = False

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    @override
    def close(self) -> None:
        self.closed = True


def exchange(method: str = "POST", *, keep_alive: bool = True) -> tuple[RouterExchange, Line]:
    line, log = Line(), logging.getLogger("uvicorn.error")
    made = RouterExchange(
        scope={"type": "http", "http_version": "1.1", "method": method},  # type: ignore[typeddict-item]  # nothing else of it is read here
        transport=line,
        flow=FlowControl(line),
        logger=log,
        access_logger=log,
        access_log=False,
        default_headers=[(b"date", b"today")],
        message_event=asyncio.Event(),
        expect_100_continue=False,
        keep_alive=keep_alive,
        on_response=lambda: None,
    )
    return made, line


def body(data: bytes, *, more: bool = False) -> Any:
    return {"type": "http.response.body", "body": data, "more_body": more}


async def test_an_answer_of_known_length_leaves_in_one_piece() -> None:
    made, line = exchange()
    await made.send(START)  # type: ignore[arg-type]
    assert line.written == []
    await made.send(body(b"hello"))
    assert line.written == [b"HTTP/1.1 200 OK\r\ndate: today\r\ncontent-length: 5\r\n\r\nhello"]
    assert made.response_complete


async def test_a_stream_begins_at_once() -> None:
    made, line = exchange(keep_alive=False)
    await made.send(STREAM)  # type: ignore[arg-type]
    assert b"transfer-encoding: chunked\r\nconnection: close\r\n" in line.written[0]
    await made.send(body(b"", more=True))
    await made.send(body(b"a", more=True))
    await made.send(body(b"b"))
    assert line.written[1:] == [b"1\r\na\r\n", b"1\r\nb\r\n0\r\n\r\n"]
    assert line.closed


@pytest.mark.parametrize("value", [b"a\r\nx: y", b"a\nx: y", b"a\0", b"a\rb"])
async def test_no_value_can_end_a_header(value: bytes) -> None:
    made, line = exchange()
    with pytest.raises(RuntimeError, match="header"):
        await made.send({"type": "http.response.start", "status": 200, "headers": [(b"x-replica-id", value)]})
    assert line.written == []


async def test_a_length_that_is_not_kept_is_an_error() -> None:
    for data in (b"hell", b"hello!"):
        made, _ = exchange()
        await made.send(START)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match="than was told"):
            await made.send(body(data))


async def test_nothing_is_sent_out_of_turn() -> None:
    made, line = exchange()
    with pytest.raises(RuntimeError):
        await made.send(body(b"early"))
    await made.send(STREAM)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError):
        await made.send(STREAM)  # type: ignore[arg-type]
    await made.send(body(b""))
    with pytest.raises(RuntimeError):
        await made.send(body(b"late"))
    made.disconnected = True
    await made.send(body(b"to nobody"))
    assert len(line.written) == 2


async def test_head_has_no_body_and_204_no_length() -> None:
    made, line = exchange("HEAD")
    await made.send(START)  # type: ignore[arg-type]
    await made.send(body(b"hello"))
    assert line.written == [b"HTTP/1.1 200 OK\r\ndate: today\r\ncontent-length: 5\r\n\r\n"]
    empty, line = exchange()
    await empty.send({"type": "http.response.start", "status": 204, "headers": []})
    await empty.send(body(b""))
    assert line.written == [b"HTTP/1.1 204 No Content\r\ndate: today\r\n\r\n"]


async def test_a_body_that_is_there_is_received_at_once() -> None:
    made, _ = exchange()
    made.body += b"hello"
    made.more_body = False
    assert await made.receive() == {"type": "http.request", "body": b"hello", "more_body": False}
    made.response_complete = True
    made.body += b"more"
    assert await made.receive() == {"type": "http.disconnect"}
