"""What a simulated calendar showed, in figures."""

from gateway.domain.fleet_simulation import BellSeen, Sample, SimulatedWeek

WEEK = SimulatedWeek(
    tick_s=1800.0,
    samples=(
        Sample(0.0, wanted=2, held=2, ready=0, used=0),
        Sample(1800.0, wanted=2, held=3, ready=2, used=2),
        Sample(3600.0, wanted=0, held=1, ready=1, used=0),
    ),
    bells=(BellSeen("met", 1800.0, ready=2, needed=2), BellSeen("missed", 3600.0, ready=1, needed=2)),
    starts=3,
    failed_starts=1,
    kills=0,
    hit=0,
    turned_away=0,
    crowded=0,
)


def test_hours_and_their_price() -> None:
    assert (WEEK.held_h, WEEK.used_h, WEEK.idle_h) == (3.0, 1.0, 2.0)
    assert WEEK.cost(price_per_gpu_hour=1.5, gpus_per_replica=2) == 9.0
    assert WEEK.peak == WEEK.samples[1]


def test_a_bell_is_met_by_as_many_replicas_as_its_seats_need() -> None:
    assert [bell.name for bell in WEEK.missed] == ["missed"]
