"""Spans by OpenTelemetry, sent in the background by OTLP over HTTP.

Nothing here waits for a collector: spans go into a bounded queue, and those that find it full or that no collector
takes are counted and forgotten. Only ids, figures and our own words become attributes.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Span as ApiSpan
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router import ports

MOST_WAITING = 4096
"""Spans that may wait for the collector; more are dropped."""

_BATCH = 512
_EVERY_MS = 1000.0
_EXPORT_TIMEOUT_S = 3.0
_LAST_CHANCE_S = 2.0
_HEADER = "traceparent"

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(slots=True)
class SpanCounts:
    """Spans by what became of them; what is neither sent, lost nor dropped still waits."""

    ended: int = 0
    sent: int = 0
    lost: int = 0
    """The collector was away or refused them."""
    dropped: int = 0
    """Too many were waiting."""

    def figures(self) -> Mapping[str, float]:
        """For the metrics; they only grow."""
        return {"spans_sent": self.sent, "spans_lost": self.lost, "spans_dropped": self.dropped}

    @property
    def waiting(self) -> int:
        return self.ended - self.sent - self.lost - self.dropped


class OtelTracing(ports.Tracing):
    def __init__(self, *, tracer: Tracer, counts: SpanCounts) -> None:
        self._tracer = tracer
        self._format = TraceContextTextMapPropagator()
        self.counts = counts

    @override
    def start(self, name: str, *, parent_header: str = "") -> ports.Span:
        # An own, empty context where there is no parent: what another task has made current is nobody's parent.
        context = self._format.extract({_HEADER: parent_header}, Context()) if parent_header else Context()
        kind = SpanKind.SERVER if name.startswith("gateway.") else SpanKind.INTERNAL
        return _OtelSpan(self._tracer.start_span(name, context=context, kind=kind))


class _OtelSpan(ports.Span):
    def __init__(self, span: ApiSpan) -> None:
        self._span = span

    @property
    @override
    def parent_header(self) -> str:
        context = self._span.get_span_context()
        if not context.is_valid:
            return ""
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"

    @override
    def note(self, name: str, value: str | float) -> None:
        self._span.set_attribute(name, value)

    @override
    def end(self, *, failed: str = "") -> None:
        if failed:
            self._span.set_status(Status(StatusCode.ERROR, failed))
        self._span.end()


class _Bounded(SpanProcessor):
    """Before the queue of the library, which would write a line to the log for each span that it drops."""

    def __init__(self, queue: SpanProcessor, counts: SpanCounts) -> None:
        self._queue = queue
        self._counts = counts

    @override
    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        pass

    @override
    def on_end(self, span: ReadableSpan) -> None:
        context = span.get_span_context()
        if context is None or not context.trace_flags.sampled:
            return
        if self._counts.waiting >= MOST_WAITING:
            self._counts.dropped += 1
            self._counts.ended += 1
            return
        self._counts.ended += 1
        self._queue.on_end(span)

    @override
    def shutdown(self) -> None:
        self._queue.shutdown()


class _Counted(SpanExporter):
    """Counts what the collector took, and says once when it goes away and when it is back."""

    def __init__(self, exporter: SpanExporter, counts: SpanCounts) -> None:
        self._exporter = exporter
        self._counts = counts
        self._is_away = False
        self._is_shut = False

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        is_sent = result is SpanExportResult.SUCCESS
        if is_sent:
            self._counts.sent += len(spans)
        else:
            self._counts.lost += len(spans)
        if self._is_away is is_sent:
            self._is_away = not is_sent
            _log.warning("spans are sent again" if is_sent else "spans cannot be sent", lost=self._counts.lost)
        return result

    @override
    def shutdown(self) -> None:
        if not self._is_shut:  # the library writes a line to the log for the second time
            self._is_shut = True
            self._exporter.shutdown()


@asynccontextmanager
async def otel_tracing(*, endpoint: str, service: str, instance: str) -> AsyncIterator[OtelTracing]:
    """Spans go to `<endpoint>/v1/traces`; those that wait at the end get two more seconds.

    Sampling, headers and certificates are the library's own variables, OTEL_TRACES_SAMPLER and so on.
    """
    counts = SpanCounts()
    exporter = _Counted(
        OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=_EXPORT_TIMEOUT_S), counts
    )
    queue = BatchSpanProcessor(
        exporter, max_queue_size=MOST_WAITING + _BATCH, schedule_delay_millis=_EVERY_MS, max_export_batch_size=_BATCH
    )
    provider = TracerProvider(
        resource=Resource.create({"service.name": service, "service.instance.id": instance}), shutdown_on_exit=False
    )
    provider.add_span_processor(_Bounded(queue, counts))
    try:
        yield OtelTracing(tracer=provider.get_tracer("drillyard"), counts=counts)
    finally:
        # What still waits is sent first, for as long as the exporter is open.
        asyncio.get_running_loop().call_later(_LAST_CHANCE_S, exporter.shutdown)
        await asyncio.to_thread(provider.shutdown)
