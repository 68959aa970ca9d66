"""What the controller counts; a process that does not lead tells of no pool."""

from dataclasses import replace

from gateway.fleet_figures import FleetFigures
from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_book import Round
from router.fleet.domain.scaling import Alert
from router.fleet.keeping import Deed, PoolReport

POOL = PoolName("模型")
ROUND = Round(pool=POOL, at=1_800_000_000.0, leader="x", wanted=6, ready=4, present=5)
REPORT = PoolReport(
    POOL,
    leads=True,
    deeds=(
        Deed("start", ReplicaId("a"), "wanted"),
        Deed("start", ReplicaId("b"), "wanted", trouble="no place"),
        Deed("join", ReplicaId("c"), "it is warm"),
    ),
    starts=(PastStart(0.0, 42.0, went_warm=True), PastStart(0.0, 900.0, went_warm=False)),
    round=ROUND,
    alert=Alert(bell=9.0, ready=4, needed=6),
    troubles=("the calendar cannot be read",),
)


def value(figures: FleetFigures, name: str, **labels: str) -> float | None:
    return figures.registry.get_sample_value(f"drillyard_fleet_{name}", labels)


def test_a_round_is_counted() -> None:
    figures = FleetFigures()
    figures.told(REPORT)
    figures.told(replace(REPORT, deeds=(), starts=(), troubles=()))
    assert value(figures, "leading") == 1
    assert value(figures, "rounds_total", pool=POOL) == 2
    assert value(figures, "troubles_total", pool=POOL) == 1
    assert value(figures, "deeds_total", pool=POOL, deed="start", outcome="done") == 1
    assert value(figures, "deeds_total", pool=POOL, deed="start", outcome="failed") == 1
    assert value(figures, "starts_total", pool=POOL, outcome="warm") == 1
    assert value(figures, "starts_total", pool=POOL, outcome="failed") == 1
    assert value(figures, "start_seconds_sum", pool=POOL) == 42
    gauges = ("wanted", "ready", "present", "short", "last_round_timestamp_seconds")
    assert [value(figures, name, pool=POOL) for name in gauges] == [6, 4, 5, 2, 1_800_000_000]
    assert b"drillyard_fleet_ready{pool=" in figures.text()


def test_what_is_not_known_is_not_told_as_nothing() -> None:
    figures = FleetFigures()
    figures.told(REPORT)
    figures.told(replace(REPORT, round=replace(ROUND, wanted=None), alert=None))
    assert value(figures, "wanted", pool=POOL) is None
    assert value(figures, "short", pool=POOL) == 0


def test_who_does_not_lead_tells_of_no_pool() -> None:
    figures = FleetFigures()
    figures.told(PoolReport(POOL, leads=False))
    assert value(figures, "leading") == 0
    figures.told(REPORT)
    figures.told(PoolReport(POOL, leads=False))
    assert [value(figures, name, pool=POOL) for name in ("wanted", "ready", "short")] == [None, None, None]
    assert value(figures, "rounds_total", pool=POOL) == 1
