"""The router's numbers for Prometheus, of a gateway that routes by itself and of the router alone alike.

Each process tells what it did itself, so that sums over processes are right. What is known of all processes together,
from the pin store, begins with `drillyard_cluster_` and must not be summed: every process tells the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from typing_extensions import override

from router.domain.fleet import Fleet, ReplicaId
from router.domain.pin import PinnedLoad
from router.errors import PinStoreUnavailable
from router.tally import RouterNumbers

Label = TypeVar("Label", bound=str)

MOST_REPLICAS = 1000
"""So many replicas have a label of their own; where pods come and go for months, later ones share one."""
OTHERS = "other"


class CountingRouter(Protocol):
    """What the metrics need of a router."""

    def numbers(self) -> RouterNumbers: ...

    def fleet(self) -> Fleet: ...

    async def loads(self) -> Mapping[ReplicaId, PinnedLoad]:
        """Raises `PinStoreUnavailable`."""


async def router_metrics_text(
    router: CountingRouter, *, gauges: Mapping[str, float], counters: Mapping[str, float]
) -> bytes:
    """The exposition, version 0.0.4, of a process that is nothing but a router; the figures are the process's own."""
    return exposition([*await router_families(router), *figures(gauges, counters)])


def figures(gauges: Mapping[str, float], counters: Mapping[str, float]) -> Iterator[Metric]:
    """Single values by name; what only grows is a counter."""
    yield from (gauge(name, name.replace("_", " "), value) for name, value in gauges.items())
    yield from (counter(name, name.replace("_", " "), value) for name, value in counters.items())


async def router_families(router: CountingRouter) -> list[Metric]:
    numbers, fleet = router.numbers(), router.fleet()
    return [*_counters(numbers), *_gauges(numbers), *_fleet(fleet), *await _cluster(router)]


def exposition(families: Iterable[Metric]) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Ready(list(families)))
    return generate_latest(registry)


class _Ready(Collector):
    """Families that have been read already."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    @override
    def collect(self) -> Iterable[Metric]:
        return self._families


def counter(name: str, help_text: str, value: float) -> Metric:
    return CounterMetricFamily(f"drillyard_{name}", help_text, value=value)


def gauge(name: str, help_text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"drillyard_{name}", help_text, value=value)


def _counters(numbers: RouterNumbers) -> Iterator[Metric]:
    yield _by("router_turns", "Turns that a replica took, by how they came to it", "pin", numbers.turns)
    yield counter("router_background", "Background calls that a replica took, which are no turns", numbers.background)
    yield _by_replica("router_attempts", "Requests to replicas by how they ended", "outcome", numbers.attempts)
    yield counter("router_retries", "Second and later requests for one turn", numbers.retries)
    yield _by("router_takeovers", "How replies went on whose replica was lost", "how", numbers.takeovers)
    yield _by("router_moves", "Sessions that went to another replica in a turn", "reason", numbers.moves)
    yield counter("router_waits", "Turns that had to wait for room", numbers.waited)
    yield counter("router_no_room", "Turns refused because every replica was full", numbers.no_room)
    yield counter("router_no_replica", "Turns refused because no replica was ready", numbers.no_replica)
    yield counter("router_unpinned", "Requests that named no session", numbers.unpinned)
    yield counter("router_retry_budget_exhausted", "Retries the pool had no budget for", numbers.budget_exhausted)
    yield _per_replica(CounterMetricFamily, "router_breaker_opened", "Breakers that opened", numbers.breaker_opened)
    yield counter("router_pin_store_failures", "Calls that the pin store did not answer", numbers.pin_failures)
    yield _by("router_prewarms", "Prewarms by what became of them", "outcome", numbers.prewarms)
    yield _by_replica("router_canaries", "Canaries by how they ended", "outcome", numbers.canaries)


def _gauges(numbers: RouterNumbers) -> Iterator[Metric]:
    yield _per_replica(
        GaugeMetricFamily, "router_in_flight", "Turns that run at the replica through this process", numbers.in_flight
    )
    yield gauge("router_waiting", "Turns that wait for room", numbers.waiting)
    yield gauge("router_pin_store_lost", "1 while the pin store is away", float(numbers.pins_lost))
    opened = dict.fromkeys(numbers.breakers_open, 1)
    yield _per_replica(GaugeMetricFamily, "router_breaker_open", "1 while nothing is sent to the replica", opened)


def _fleet(fleet: Fleet) -> Iterator[Metric]:
    """As this process sees it; every one sees the same fleet, so these are not summed either."""
    ready = {each.id: float(each.is_ready) for each in fleet.replicas}
    draining = {each.id: float(each.is_draining) for each in fleet.replicas}
    yield _per_replica(GaugeMetricFamily, "replica_ready", "1 when the replica may serve", ready)
    yield _per_replica(GaugeMetricFamily, "replica_draining", "1 while the replica is being emptied", draining)


async def _cluster(router: CountingRouter) -> Iterable[Metric]:
    """Nothing while the pin store is away: unknown is not zero."""
    try:
        loads = await router.loads()
    except PinStoreUnavailable:
        return ()
    sessions = {replica: load.sessions for replica, load in loads.items()}
    tokens = {replica: load.kv_tokens for replica, load in loads.items()}
    return (
        _per_replica(GaugeMetricFamily, "cluster_pinned_sessions", "Sessions pinned over all routers", sessions),
        _per_replica(GaugeMetricFamily, "cluster_pinned_kv_tokens", "KV they are expected to hold", tokens),
    )


def _by(name: str, help_text: str, label: str, counts: Mapping[Label, int]) -> Metric:
    family = CounterMetricFamily(f"drillyard_{name}", help_text, labels=[label])
    for value, count in counts.items():
        family.add_metric([_word(value)], count)
    return family


def _by_replica(name: str, help_text: str, label: str, counts: Mapping[tuple[ReplicaId, str], int]) -> Metric:
    labelled = _bounded(replica for replica, _ in counts)
    sums: dict[tuple[str, str], float] = {}
    for (replica, value), count in counts.items():
        key = labelled[replica], _word(value)
        sums[key] = sums.get(key, 0) + count
    family = CounterMetricFamily(f"drillyard_{name}", help_text, labels=["replica", label])
    for labels, total in sums.items():
        family.add_metric(list(labels), total)
    return family


def _per_replica(
    kind: type[CounterMetricFamily] | type[GaugeMetricFamily],
    name: str,
    help_text: str,
    values: Mapping[ReplicaId, float],
) -> Metric:
    labelled = _bounded(values)
    sums: dict[str, float] = {}
    for replica, value in values.items():
        sums[labelled[replica]] = sums.get(labelled[replica], 0) + value
    family = kind(f"drillyard_{name}", help_text, labels=["replica"])
    for label, total in sums.items():
        family.add_metric([label], total)
    return family


def _bounded(replicas: Iterable[ReplicaId]) -> Mapping[ReplicaId, str]:
    """Each replica's label. Those seen first keep theirs, so that no counter ever falls."""
    seen = dict.fromkeys(replicas)
    return {replica: replica if place < MOST_REPLICAS else OTHERS for place, replica in enumerate(seen)}


def _word(value: str) -> str:
    return value.replace(" ", "_")
