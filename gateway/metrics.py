"""What this process counts for Prometheus; labels are bounded, and no session or account is ever one."""

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from typing_extensions import override

from sessions.domain.turn import Turn

_SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 15.0, 30.0)

Gauges = Callable[[], Mapping[tuple[str, str], float]]
"""Values by (name, replica), read when somebody looks; the replica is empty where there is none."""


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self._requests = Counter(
            "drillyard_http_requests",
            "Requests by route and status",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._turns = Counter("drillyard_turns", "Turns by how they ended", ["state"], registry=self.registry)
        self._tokens = Counter(
            "drillyard_prompt_tokens", "Prompt tokens of completed turns", ["source"], registry=self.registry
        )
        self._first = Histogram(
            "drillyard_turn_ttft_seconds", "From acceptance to the first text", buckets=_SECONDS, registry=self.registry
        )
        self._whole = Histogram(
            "drillyard_turn_seconds", "From acceptance to the end", buckets=_SECONDS, registry=self.registry
        )

    def saw_request(self, *, method: str, route: str, status: int) -> None:
        self._requests.labels(method, route, str(status)).inc()

    def saw_turn(self, turn: Turn) -> None:
        self._turns.labels(turn.state).inc()
        self._tokens.labels("cached").inc(turn.usage.cached_tokens)
        self._tokens.labels("computed").inc(max(0, turn.usage.prompt_tokens - turn.usage.cached_tokens))
        self._whole.observe(turn.timings.e2e_ms / 1000)
        if turn.timings.ttft_ms is not None:
            self._first.observe(turn.timings.ttft_ms / 1000)

    def watch(self, gauges: Gauges) -> None:
        """Read these at every look."""
        self.registry.register(_Gauges(gauges))

    def text(self) -> bytes:
        """The exposition, version 0.0.4."""
        return generate_latest(self.registry)


class _Gauges(Collector):
    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    @override
    def collect(self) -> Iterable[Metric]:
        families: dict[str, GaugeMetricFamily] = {}
        for (name, replica), value in self._gauges().items():
            family = families.setdefault(
                name, GaugeMetricFamily(f"drillyard_{name}", name.replace("_", " "), labels=["replica"])
            )
            family.add_metric([replica], value)
        return families.values()
