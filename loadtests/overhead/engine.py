"""A mock engine that is never the bottleneck: `python -m loadtests.overhead.engine --port 9001 --port 9002`.

One thread over epoll. Each port is a replica of its own. How long streams are, and how far apart their pieces, is told
at `PUT /overhead`, so that requests need not say it.
"""

import argparse
import gc
import json
import re
import select
import socket
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import monotonic_ns

from loadtests.overhead.wire import StreamBytes, answer, counted, page, stream, whole

_READ_BYTES = 1 << 16
_MOST_REQUEST_BYTES = 1 << 24
_LENGTH = re.compile(rb"(?i)\r\ncontent-length:\s*(\d+)")
_STREAMED = re.compile(rb'"stream"\s*:\s*true')
_TOKEN_IDS = re.compile(rb'"return_token_ids"\s*:\s*true')
_USAGE = re.compile(rb'"include_usage"\s*:\s*true')
_METHODS = (b"GET ", b"POST ", b"PUT ", b"HEAD ")
_IN, _OUT = select.EPOLLIN, select.EPOLLIN | select.EPOLLOUT


@dataclass(slots=True)
class Pace:
    """How streams are sent."""

    chunks: int = 50
    every_ns: int = 0


@dataclass(frozen=True, slots=True)
class Replica:
    """What one port answers."""

    whole: bytes
    streams: Mapping[tuple[bool, bool], StreamBytes]
    """By whether token ids and usage are asked for."""

    @classmethod
    def numbered(cls, number: int) -> "Replica":
        streams = {
            (ids, usage): stream(number, has_token_ids=ids, has_usage=usage)
            for ids, usage in product((False, True), repeat=2)
        }
        return cls(whole(number), streams)


class Connection:
    """One client, and the stream it is being sent, if there is one."""

    __slots__ = ("left", "replica", "sock", "stream", "unread", "unsent")

    def __init__(self, sock: socket.socket, replica: Replica) -> None:
        self.sock = sock
        self.replica = replica
        self.unread = b""
        self.unsent = b""
        self.stream: StreamBytes | None = None
        self.left = 0


class MockEngine:
    def __init__(self, listeners: Sequence[socket.socket], *, tokens: Callable[[bytes], int] | None = None) -> None:
        self.pace = Pace()
        self._tokens = tokens
        self._epoll = select.epoll()
        self._doors = {door.fileno(): (door, Replica.numbered(number)) for number, door in enumerate(listeners)}
        self._connections: dict[int, Connection] = {}
        self._ready: deque[Connection] = deque()
        self._timed: deque[tuple[int, Connection]] = deque()
        self._room = memoryview(bytearray(_READ_BYTES))
        for file in self._doors:
            self._epoll.register(file, _IN)

    def serve(self) -> None:
        """For ever."""
        while True:
            self.turn()

    def turn(self, *, most_s: float = -1) -> None:
        """One round: who asks is answered, then each stream whose time has come is sent one piece."""
        for file, _ in self._epoll.poll(self._patience(most_s)):
            connection = self._connections.get(file)
            if connection is None:
                self._accept(file)
            elif connection.unsent:
                self._go_on(connection)
            else:
                self._read(connection)
        for _ in range(len(self._ready)):
            connection = self._ready.popleft()
            if self._send_piece(connection, monotonic_ns()):
                self._ready.append(connection)
        self._send_timed()

    def close(self) -> None:
        for connection in list(self._connections.values()):
            self._drop(connection)
        for door, _ in self._doors.values():
            door.close()
        self._epoll.close()

    def _patience(self, most_s: float) -> float:
        if self._ready:
            return 0
        return max(0, self._timed[0][0] - monotonic_ns()) / 1e9 if self._timed else most_s

    def _send_timed(self) -> None:
        timed, every = self._timed, self.pace.every_ns
        while timed and timed[0][0] <= (now := monotonic_ns()):
            due, connection = timed.popleft()
            if self._send_piece(connection, now):
                timed.append((due + every, connection))

    def _accept(self, file: int) -> None:
        door, replica = self._doors.get(file, (None, None))
        if door is None or replica is None:
            return
        sock, _ = door.accept()
        sock.settimeout(0)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connections[sock.fileno()] = Connection(sock, replica)
        self._epoll.register(sock.fileno(), _IN)

    def _read(self, connection: Connection) -> None:
        try:
            size = connection.sock.recv_into(self._room)
        except BlockingIOError:
            return
        except OSError:
            size = 0
        if not size or connection.left:
            self._drop(connection)  # it has gone, or it talks while it is being answered
            return
        data = connection.unread + self._room[:size].tobytes()
        rest = self._answer(connection, data)
        if rest is None and len(data) > _MOST_REQUEST_BYTES:
            self._drop(connection)
        else:
            connection.unread = data if rest is None else rest

    def _answer(self, connection: Connection, data: bytes) -> bytes | None:
        """What follows the request; None: it is not whole yet."""
        head_end = data.find(b"\r\n\r\n") + 4
        if head_end < 4:  # noqa: PLR2004 - not found
            return None
        found = _LENGTH.search(data, 0, head_end)
        end = head_end + (int(found[1]) if found else 0)
        if len(data) < end:
            return None
        if data.startswith(b"POST /v1/chat/completions"):
            self._generate(connection, data[head_end:end])
        elif data.startswith(_METHODS):
            self._send(connection, self._page(data, data[head_end:end]))
        else:
            self._drop(connection)  # somebody tries whether HTTP/2 is spoken here
        return data[end:]

    def _page(self, data: bytes, body: bytes) -> bytes:
        path = data.split(b" ", 2)[1].decode("latin-1")
        if path == "/tokenize" and self._tokens is not None:
            return counted(self._tokens(body))
        if path != "/overhead":
            return page(path.partition("?")[0])
        told = json.loads(body)
        self.pace = Pace(told["chunks"], round(told["every_ms"] * 1e6))
        return answer(b"{}")

    def _generate(self, connection: Connection, body: bytes) -> None:
        replica = connection.replica
        if _STREAMED.search(body) is None:
            self._send(connection, replica.whole)
            return
        wanted = _TOKEN_IDS.search(body) is not None, _USAGE.search(body) is not None
        connection.stream = replica.streams[wanted]
        connection.left = self.pace.chunks
        now = monotonic_ns()
        self._send(connection, connection.stream.start + connection.stream.piece(now))
        connection.left -= 1
        if self.pace.every_ns:
            self._timed.append((now + self.pace.every_ns, connection))
        else:
            self._ready.append(connection)

    def _send_piece(self, connection: Connection, now: int) -> bool:
        """Whether more is to come by and by."""
        stream = connection.stream
        if stream is None:
            return False
        if connection.unsent:
            return True  # its reader is slow
        if connection.left:
            connection.left -= 1
            self._send(connection, stream.piece(now))
            return True
        connection.stream = None
        self._send(connection, stream.end)
        return False

    def _send(self, connection: Connection, data: bytes) -> None:
        try:
            sent = connection.sock.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(connection)
            return
        if sent < len(data):
            connection.unsent = data[sent:]
            self._epoll.modify(connection.sock.fileno(), _OUT)

    def _go_on(self, connection: Connection) -> None:
        data, connection.unsent = connection.unsent, b""
        self._send(connection, data)
        if not connection.unsent and connection.sock.fileno() in self._connections:
            self._epoll.modify(connection.sock.fileno(), _IN)

    def _drop(self, connection: Connection) -> None:
        connection.stream, connection.left, connection.unsent = None, 0, b""
        file = connection.sock.fileno()
        if self._connections.pop(file, None) is not None:
            self._epoll.unregister(file)
            connection.sock.close()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m loadtests.overhead.engine", description=__doc__)
    parser.add_argument("--port", type=int, action="append", required=True, help="one replica each; 0 takes a free one")
    parser.add_argument("--model-folder", type=Path, help="count tokens as this model does")
    given = parser.parse_args(arguments)
    listeners = [socket.create_server(("127.0.0.1", port), backlog=2048) for port in given.port]
    sys.stdout.write(" ".join(str(listener.getsockname()[1]) for listener in listeners) + "\n")
    sys.stdout.flush()
    tokens = _token_count(given.model_folder) if given.model_folder else None
    gc.disable()
    MockEngine(listeners, tokens=tokens).serve()


def _token_count(folder: Path) -> Callable[[bytes], int]:
    from loadtests.overhead.token_count import token_count  # noqa: PLC0415 - slow to load, and seldom needed

    return token_count(folder)


if __name__ == "__main__":
    main()
