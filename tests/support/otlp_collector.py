"""A collector of spans: real HTTP, real protobuf, and as bad as a test wants it."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from typing_extensions import override


@dataclass(frozen=True)
class SeenSpan:
    name: str
    trace: str
    id: str
    parent: str
    service: str
    facts: dict[str, str | float]
    failed: str


@dataclass
class Collector:
    url: str
    status: HTTPStatus = HTTPStatus.OK
    spans: list[SeenSpan] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    requests: int = 0

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        with self.changed:
            self.requests += 1
            if self.status is HTTPStatus.OK:
                self.spans += _seen(request)
            self.changed.notify_all()

    def wait_for(self, spans: int, *, timeout_s: float = 15) -> list[SeenSpan]:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.spans) >= spans, timeout_s), [s.name for s in self.spans]
            return list(self.spans)

    def named(self, name: str) -> list[SeenSpan]:
        return [span for span in self.spans if span.name == name]


def _seen(request: ExportTraceServiceRequest) -> Iterator[SeenSpan]:
    for resource in request.resource_spans:
        known = {each.key: each.value.string_value for each in resource.resource.attributes}
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield SeenSpan(
                    name=span.name,
                    trace=span.trace_id.hex(),
                    id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    service=known.get("service.name", ""),
                    facts={each.key: _value(each.value) for each in span.attributes},
                    failed=span.status.message,
                )


def _value(value: object) -> str | float:
    kind = value.WhichOneof("value")  # type: ignore[attr-defined]  # a message of the protocol
    found: str | float = getattr(value, kind)
    return found


@contextmanager
def collector() -> Iterator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            taken.take(gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(taken.status)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        taken = Collector(f"http://127.0.0.1:{server.server_address[1]}")
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        serving.start()
        try:
            yield taken
        finally:
            server.shutdown()
            serving.join()
