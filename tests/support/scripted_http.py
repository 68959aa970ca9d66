"""A server on loopback, in a thread of its own, that answers one request after the other as a test has written it."""

import json
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedIOBase

from typing_extensions import override


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def content(self) -> object:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Scripted:
    """Parts are sent one after the other; a part that is called may wait for something first."""

    parts: Sequence[bytes | Callable[[], bytes]] = ()
    cuts: bool = False
    """The connection is cut behind them."""


@dataclass(slots=True)
class ScriptedHttp:
    url: str
    answers: list[Scripted]
    requests: list[Request] = field(default_factory=list)


def whole(status: int, content: object, **headers: object) -> Scripted:
    body = json.dumps(content).encode()
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return Scripted([f"HTTP/1.1 {status} Some\r\nContent-Length: {len(body)}\r\n{lines}\r\n".encode() + body])


def streamed(*pieces: bytes | Callable[[], bytes], cuts: bool = False, **headers: object) -> Scripted:
    """A chunk for each piece; with `cuts` the stream breaks off behind the last."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{lines}\r\n".encode()
    chunks = [_chunk(piece) for piece in pieces]
    return Scripted([head, *chunks, *([] if cuts else [b"0\r\n\r\n"])], cuts=cuts)


@contextmanager
def scripted_http(*answers: Scripted) -> Iterator[ScriptedHttp]:
    """Where the script is at its end, connections are cut."""
    served = ScriptedHttp("", list(answers))

    class Handler(socketserver.StreamRequestHandler):
        @override
        def handle(self) -> None:
            while (request := _read(self.rfile)) is not None and served.answers:
                served.requests.append(request)
                answer = served.answers.pop(0)
                for part in answer.parts:
                    self.wfile.write(part if isinstance(part, bytes) else part())
                if answer.cuts:
                    return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

        @override
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that is gone is no error of the test."""

    with Server(("127.0.0.1", 0), Handler) as server:
        served.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


def _chunk(piece: bytes | Callable[[], bytes]) -> bytes | Callable[[], bytes]:
    if isinstance(piece, bytes):
        return b"%x\r\n%s\r\n" % (len(piece), piece)
    later = piece

    def made() -> bytes:
        content = later()
        return b"%x\r\n%s\r\n" % (len(content), content)

    return made


def _read(stream: BufferedIOBase) -> Request | None:
    first = stream.readline().decode().split()
    if not first:
        return None
    headers: dict[str, str] = {}
    while (line := stream.readline().strip()) != b"":
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    return Request(first[0], first[1], headers, stream.read(int(headers.get("content-length", "0"))))
