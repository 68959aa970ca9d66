"""A week of classes in three time zones over a change of clocks, with all that goes wrong in one."""

from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from router.fleet.domain.demand import Booking, BookingId, PoolName
from router.fleet.domain.pool_rules import PoolRules
from tests.support.fleet_optimum import least_idle
from tests.support.fleet_week import FASTEST_START_S, TICK_S, SimulatedWeek

POOL = PoolName("qwen")
MONDAY = datetime(2026, 3, 2)  # noqa: DTZ001 - each class adds its own zone
# In the mornings of one zone and the afternoons of the next, so that most classes meet others.
BELLS = {
    "Asia/Shanghai": ((10, 0), (15, 0), (15, 45)),
    "Europe/Berlin": ((8, 0), (9, 30), (14, 0), (15, 15)),
    "America/New_York": ((8, 0), (9, 30), (10, 0), (13, 15)),
}
RULES = PoolRules(seats_per_replica=8, maximum=40, starts_at_once=4)


def moment(day: int, bell: tuple[int, int], zone: str) -> float:
    """The instant of a time on a wall; the clocks of New York are put forward in the last night of the week."""
    return (MONDAY + timedelta(days=day, hours=bell[0], minutes=bell[1])).replace(tzinfo=ZoneInfo(zone)).timestamp()


def calendar(seed: int) -> list[Booking]:
    """40 classes. Two of them are in the night in which New York has no hour from two to three."""
    dice = Random(seed)  # noqa: S311 - a simulation
    zones = [zone for _ in range(12) for zone in BELLS]
    places = [(dice.randrange(4), dice.choice(BELLS[zone]), zone) for zone in zones]
    places += [(6, bell, "America/New_York") for bell in ((1, 30), (3, 15), (9, 0), (9, 30))]
    return [
        Booking(
            BookingId(f"class-{n}"), POOL, begins, begins + dice.choice((45, 60, 90, 120)) * 60.0, dice.randint(8, 60)
        )
        for n, place in enumerate(places)
        for begins in [moment(*place)]
    ]


def test_the_night_of_the_change_is_an_hour_shorter() -> None:
    assert moment(6, (3, 15), "America/New_York") - moment(6, (1, 30), "America/New_York") == 45 * 60.0


@pytest.mark.parametrize("seed", [1, 16])
def test_every_bell_of_the_week_is_met_and_little_stands_idle(seed: int) -> None:
    classes = calendar(seed)
    week = SimulatedWeek(classes, RULES, seed=seed)
    week.play()
    used = week.need(with_strays=True)
    optimum = least_idle(
        week.need(with_strays=False),
        used,
        ahead=round(RULES.lead_s / TICK_S),
        at_once=RULES.starts_at_once,
        soonest=round(FASTEST_START_S / TICK_S),
    )
    assert week.broken == []
    assert sum(week.held) - sum(used) <= 1.15 * optimum
    # that something went wrong, and that nothing is left when all are gone
    assert sum(any(a.begins < b.ends and b.begins < a.ends for b in classes if b is not a) for a in classes) >= 30
    assert week.failures > 5
    assert week.kills > 500
    assert week.held[-1] == 0


def test_without_a_lead_the_same_week_breaks_promises() -> None:
    week = SimulatedWeek(calendar(1), replace(RULES, lead_s=0.0, safety=1.0, spare_starts=0), seed=1)
    week.play()
    assert week.broken
