"""A web server on loopback that holds weights, and gives them well or badly."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from typing_extensions import override

from router.fleet.domain.weights_list import LIST_NAME, WeightsFile, WeightsList, weights_list


def listed(files: dict[str, bytes]) -> WeightsList:
    return weights_list(
        WeightsFile(path, hashlib.sha256(content).hexdigest(), len(content)) for path, content in files.items()
    )


class WeightsServer:
    """`files` by their paths; the list of them lies beside them. `asked` has each path with the byte it began at."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.served = {**files, LIST_NAME: listed(files).text.encode()}
        self.headers: dict[str, dict[str, str]] = {}
        self.asked: list[tuple[str, int]] = []
        self.keys: list[str | None] = []
        self.url = ""
        self.takes_ranges = True
        self.cut_after: dict[str, int] = {}
        """The connection is closed after so many bytes of the body, each time that many are still to come."""
        self.status: dict[str, int] = {}
        self.redirects: dict[str, str] = {}
        self.held = threading.Event()
        """Set: bodies come at once. Otherwise each that is longer stops after `held_after` bytes until it is set."""
        self.held_after = 1 << 16
        self.held.set()
        self.is_holding = threading.Event()

    def starts(self, path: str) -> list[int]:
        return [start for asked, start in self.asked if asked == path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    told: WeightsServer

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self, *, with_body: bool) -> None:
        told, path = self.told, unquote(urlsplit(self.path).path).lstrip("/")
        start = self._start() if told.takes_ranges else 0
        if with_body:
            told.asked.append((path, start))
            told.keys.append(self.headers["Authorization"])
        content = told.served.get(path, b"")
        status = self._status(path, start)
        if status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
            self._head(status, {"Content-Length": "0", "Location": told.redirects.get(path, "")})
            return
        facts = {"Content-Length": str(len(content) - start), **told.headers.get(path, {})}
        if start:
            facts["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self._head(status, facts)
        if with_body:
            self._body(path, content, start)

    def _status(self, path: str, start: int) -> int:
        if path in self.told.redirects:
            return HTTPStatus.FOUND
        content = self.told.served.get(path)
        if content is None:
            return HTTPStatus.NOT_FOUND
        if start >= len(content) > 0:
            return HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        return self.told.status.get(path, HTTPStatus.PARTIAL_CONTENT if start else HTTPStatus.OK)

    def _start(self) -> int:
        asked = self.headers["Range"] or "bytes=0-"
        return int(asked.removeprefix("bytes=").partition("-")[0])

    def _head(self, status: int, facts: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in facts.items():
            self.send_header(name, value)
        self.end_headers()

    def _body(self, path: str, content: bytes, start: int) -> None:
        cut = self.told.cut_after.get(path, len(content))
        end, first = min(len(content), start + cut), start + self.told.held_after
        try:
            self.wfile.write(content[start : min(end, first)])
            self.wfile.flush()
            if end > first and not self.told.held.is_set():
                self.told.is_holding.set()
                self.told.held.wait(30)
            self.wfile.write(content[min(end, first) : end])
        except OSError:
            self.close_connection = True
        if end < len(content):
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever hangs up does what a test asked of it."""


@contextmanager
def weights_server(files: dict[str, bytes]) -> Iterator[WeightsServer]:
    told = WeightsServer(files)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"told": told}))
    told.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield told
    finally:
        told.held.set()
        server.shutdown()
        server.server_close()
        thread.join()
