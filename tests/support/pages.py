"""A server on loopback with some pages, for clients that block."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from typing_extensions import override


@dataclass(slots=True)
class Pages:
    """`by_path` may be changed while it serves; what is not in it is 404. `asked` are the paths, with their keys."""

    url: str
    by_path: dict[str, str]
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    hangs_up: bool = False
    """After each answer, without having said so."""


@contextmanager
def pages(by_path: Mapping[str, str]) -> Iterator[Pages]:
    served = Pages("", dict(by_path))

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            served.asked.append((self.path, self.headers.get("Authorization")))
            page = served.by_path.get(self.path)
            body = (page or "").encode()
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = served.hangs_up

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Answers) as server:
        served.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
