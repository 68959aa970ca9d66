"""The mock engine, turned by hand."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from loadtests.overhead.answer import fault_of_stream, fault_of_whole, replica_of
from loadtests.overhead.chat_speech import request
from loadtests.overhead.engine import MockEngine
from loadtests.overhead.load import Course

WHOLE, STREAMED = Course("whole", 1, 1), Course("streamed", 1, 1, chunks=5)


class Talk:
    def __init__(self, engine: MockEngine, sock: socket.socket) -> None:
        self.engine = engine
        self.sock = sock

    def say(self, data: bytes, until: bytes) -> bytes:
        self.sock.sendall(data)
        heard = b""
        for _ in range(10_000):
            self.engine.turn()
            try:
                heard += self.sock.recv(1 << 16)
            except BlockingIOError:
                continue
            if until in heard:
                return heard
        raise AssertionError(heard)


@contextmanager
def talking(replica: int = 0) -> Iterator[Talk]:
    doors = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    engine = MockEngine(doors)
    try:
        with socket.create_connection(doors[replica].getsockname()) as sock:
            engine.turn()
            sock.settimeout(0)
            yield Talk(engine, sock)
        engine.turn(most_s=0.1)
    finally:
        engine.close()


def put_pace(chunks: int, every_ms: float) -> bytes:
    body = json.dumps({"chunks": chunks, "every_ms": every_ms}).encode()
    return b"PUT /overhead HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def test_it_answers_whole_and_says_which_replica_it_is() -> None:
    with talking(1) as talk:
        for _ in range(2):
            answer = talk.say(request(1, "x-session-id", WHOLE, 100), b"}")
            assert (fault_of_whole(answer), replica_of(answer)) == (None, b"1")


@pytest.mark.parametrize("every_ms", [0, 1])
def test_it_streams_as_it_was_told(every_ms: float) -> None:
    with talking() as talk:
        talk.say(put_pace(5, every_ms), b"{}")
        answer = talk.say(request(1, "x-session-id", STREAMED, 100), b"0\r\n\r\n")
        assert fault_of_stream(answer, 5) is None


def test_a_request_may_come_in_parts() -> None:
    with talking() as talk:
        data = request(1, "x-session-id", WHOLE, 100)
        talk.sock.sendall(data[:50])
        talk.engine.turn()
        assert fault_of_whole(talk.say(data[50:], b"}")) is None


def test_pages_are_served_beside() -> None:
    with talking() as talk:
        assert b"0.32.0" in talk.say(b"GET /version HTTP/1.1\r\n\r\n", b"}")


def test_who_speaks_another_protocol_is_let_go() -> None:
    with talking() as talk:
        talk.sock.sendall(b"PRI * HTTP/2.0\r\n\r\n")
        talk.engine.turn()
        talk.sock.settimeout(5)
        assert talk.sock.recv(10) == b""


def test_a_reader_that_is_slow_gets_everything_in_the_end() -> None:
    chunks = 20_000
    with talking() as talk:
        talk.say(put_pace(chunks, 0), b"{}")
        talk.sock.sendall(request(1, "x-session-id", Course("long", 1, 1, chunks=chunks), 100))
        for _ in range(chunks):
            talk.engine.turn()
        heard: list[bytes] = []

        def read() -> None:
            talk.sock.settimeout(10)
            while b"[DONE]" not in b"".join(heard[-2:]):
                heard.append(talk.sock.recv(1 << 16))

        reader = threading.Thread(target=read)
        reader.start()
        while reader.is_alive():
            talk.engine.turn(most_s=0.01)
        assert fault_of_stream(b"".join(heard), chunks) is None
