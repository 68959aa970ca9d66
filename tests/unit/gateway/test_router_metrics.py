"""The router's numbers as Prometheus reads them: counters that only grow, and labels that stay few."""

from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families

from gateway.router_metrics import MOST_REPLICAS, OTHERS, router_metrics_text
from router.domain.fleet import Fleet, Health, Replica, ReplicaId
from router.domain.pin import PinDecision, PinnedLoad
from router.tally import MoveReason, PrewarmOutcome, RouterNumbers, Takeover
from tests.support.counted_router import CountedRouter

A, B = ReplicaId("a"), ReplicaId("b")
NUMBERS = RouterNumbers(
    in_flight={A: 2},
    waiting=4,
    pins_lost=True,
    breakers_open=frozenset({B}),
    turns={PinDecision.KEPT: 9, PinDecision.NEW: 1},
    attempts={(A, "completed"): 8, (B, "EngineBroke"): 1},
    retries=3,
    takeovers={Takeover.ASKED_ANEW: 2},
    moves={MoveReason.REPLICA_LOST: 1},
    no_room=5,
    breaker_opened={B: 1},
    pin_failures=6,
    background=12,
    prewarms={PrewarmOutcome.DONE: 7},
    canaries={(A, "passed"): 11},
)

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


async def text_of(
    router: CountedRouter, *, gauges: Mapping[str, float] | None = None, counters: Mapping[str, float] | None = None
) -> bytes:
    return await router_metrics_text(router, gauges=gauges or {}, counters=counters or {})


async def read(router: CountedRouter) -> tuple[Samples, dict[str, str]]:
    families = list(text_string_to_metric_families((await text_of(router)).decode()))
    samples = {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}
    return samples, {family.name: family.type for family in families}


async def test_what_only_grows_is_a_counter() -> None:
    samples, kinds = await read(CountedRouter(NUMBERS))
    assert samples["drillyard_router_turns_total", (("pin", "kept"),)] == 9
    assert samples["drillyard_router_attempts_total", (("outcome", "EngineBroke"), ("replica", "b"))] == 1
    assert samples["drillyard_router_takeovers_total", (("how", "asked_anew"),)] == 2
    assert samples["drillyard_router_moves_total", (("reason", "replica_lost"),)] == 1
    assert samples["drillyard_router_breaker_opened_total", (("replica", "b"),)] == 1
    assert samples["drillyard_router_retries_total", ()] == 3
    assert samples["drillyard_router_background_total", ()] == 12
    assert samples["drillyard_router_pin_store_failures_total", ()] == 6
    assert samples["drillyard_router_prewarms_total", (("outcome", "done"),)] == 7
    assert samples["drillyard_router_canaries_total", (("outcome", "passed"), ("replica", "a"))] == 11
    assert kinds["drillyard_router_retries"] == kinds["drillyard_router_attempts"] == "counter"


async def test_what_is_now_is_a_gauge() -> None:
    samples, kinds = await read(CountedRouter(NUMBERS))
    assert samples["drillyard_router_in_flight", (("replica", "a"),)] == 2
    assert samples["drillyard_router_waiting", ()] == 4
    assert samples["drillyard_router_pin_store_lost", ()] == 1
    assert samples["drillyard_router_breaker_open", (("replica", "b"),)] == 1
    assert kinds["drillyard_router_in_flight"] == "gauge"


async def test_the_fleet_and_what_is_pinned_to_it_are_told_apart_from_what_this_process_did() -> None:
    fleet = Fleet((Replica(A, "http://a", Health.READY, is_draining=True), Replica(B, "http://b", Health.DOWN)))
    router = CountedRouter(NUMBERS, fleet, pinned={A: PinnedLoad(3, 12_000)})
    samples, _ = await read(router)
    assert samples["drillyard_replica_ready", (("replica", "a"),)] == 1
    assert samples["drillyard_replica_ready", (("replica", "b"),)] == 0
    assert samples["drillyard_replica_draining", (("replica", "a"),)] == 1
    assert samples["drillyard_cluster_pinned_sessions", (("replica", "a"),)] == 3
    assert samples["drillyard_cluster_pinned_kv_tokens", (("replica", "a"),)] == 12_000


async def test_pins_that_nobody_can_count_are_not_zero() -> None:
    samples, _ = await read(CountedRouter(NUMBERS, pinned=None))
    assert not any(name.startswith("drillyard_cluster_") for name, _ in samples)


async def test_a_process_may_have_figures_of_its_own() -> None:
    page = await text_of(CountedRouter(NUMBERS), gauges={"age_seconds": 2}, counters={"spans_sent": 3})
    assert b"drillyard_age_seconds 2.0" in page
    assert b"drillyard_spans_sent_total 3.0" in page


async def test_counts_of_two_processes_add_up() -> None:
    one, _ = await read(CountedRouter(NUMBERS))
    other, _ = await read(CountedRouter(RouterNumbers(retries=2, attempts={(A, "completed"): 1})))
    assert one["drillyard_router_retries_total", ()] + other["drillyard_router_retries_total", ()] == 5
    key = "drillyard_router_attempts_total", (("outcome", "completed"), ("replica", "a"))
    assert one[key] + other[key] == 9


async def test_pods_that_come_and_go_do_not_grow_the_labels_for_ever() -> None:
    gone = {(ReplicaId(f"pod-{number}"), "completed"): 1 for number in range(MOST_REPLICAS + 50)}
    samples, _ = await read(CountedRouter(RouterNumbers(attempts=gone)))
    found = {labels: value for (name, labels), value in samples.items() if name == "drillyard_router_attempts_total"}
    assert len(found) == MOST_REPLICAS + 1
    assert found[("outcome", "completed"), ("replica", OTHERS)] == 50
