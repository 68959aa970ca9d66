"""A simulated calendar on a terminal and as JSON."""

import json
from datetime import UTC
from io import StringIO

from rich.console import Console

from gateway.cli.fleet_simulate_view import Told, as_json, bells_table, changes, lines
from gateway.domain.fleet_simulation import BellSeen, Sample, SimulatedWeek
from router.fleet.domain.pool_rules import PoolRules

BEGINS = 1_772_438_400.0  # Monday 2026-03-02, 08:00 UTC
HOUR_S = 3600.0


def sample(hour: int, held: int, used: int) -> Sample:
    return Sample(BEGINS + hour * HOUR_S, wanted=held, held=held, ready=held, used=used)


WEEK = SimulatedWeek(
    tick_s=HOUR_S,
    samples=(sample(0, 1, 0), sample(1, 1, 0), sample(2, 2, 2), sample(3, 2, 3), sample(4, 0, 0)),
    bells=(
        BellSeen("1 Monday's class", BEGINS + 2 * HOUR_S, ready=2, needed=2),
        BellSeen("2 [late]", BEGINS + 3 * HOUR_S, ready=2, needed=3),
    ),
    starts=3,
    failed_starts=1,
    kills=7,
    hit=0,
    turned_away=0,
    crowded=4,
)
TOLD = Told("term.csv", PoolRules(seats_per_replica=8, maximum=4), WEEK, gpus_per_replica=2, price_per_gpu_hour=1.5)


def test_replicas_over_time_are_drawn_and_summed_up() -> None:
    shown = list(lines(TOLD, 46, UTC))
    row = next(line for line in shown if line.startswith("2 │"))
    assert row.count("█") == 20
    assert next(line for line in shown if line.startswith("3 │")).count("░") == 10
    told = "\n".join(shown)
    for words in (
        "1 of 2",
        "2, Mon 2026-03-02 10:00 UTC",
        "3, of which 1 failed",
        "12.0, of which 2.0 idle",
        "18.00, of which 3.00 idle",
    ):
        assert words in told


def test_without_a_price_nothing_is_said_of_cost() -> None:
    free = Told("term.csv", TOLD.rules, WEEK, gpus_per_replica=1, price_per_gpu_hour=None)
    assert free.cost is None
    assert not any(line.startswith("cost") for line in lines(free, 80, UTC))


def test_every_bell_is_told_and_one_that_was_missed_stands_out() -> None:
    screen = Console(width=80, record=True, file=StringIO())
    screen.print(bells_table(WEEK.bells, UTC), markup=False)
    shown = screen.export_text()
    assert "1 Monday's class" in shown
    missed = next(line for line in shown.splitlines() if "MISSED" in line)
    assert "2 [late]" in missed
    assert "2 of 3" in missed


def test_of_many_bells_only_those_that_were_missed_are_told() -> None:
    many = [BellSeen(f"class {n}", BEGINS, ready=1, needed=1 + (n == 70)) for n in range(80)]
    screen = Console(width=80, record=True, file=StringIO())
    screen.print(bells_table(many, UTC))
    rows = [line for line in screen.export_text().splitlines() if line.startswith("│")]
    assert len(rows) == 1
    assert "class 70" in rows[0]


def test_json_holds_every_change_once() -> None:
    told = json.loads(json.dumps(as_json(TOLD, ["a note"])))
    assert (told["missed"], told["gpu_hours"], told["idle_gpu_hours"], told["cost"]) == (1, 12.0, 2.0, 18.0)
    assert told["bells"][1] == {
        "name": "2 [late]",
        "at": "2026-03-02T11:00:00Z",
        "ready": 2,
        "needed": 3,
        "is_met": False,
    }
    assert [step["at"][11:13] for step in told["replicas"]] == ["08", "10", "11", "12"]
    assert (told["notes"], told["rules"]["maximum"]) == (["a note"], 4)


def test_a_change_is_the_first_sample_that_says_something_else() -> None:
    assert changes(WEEK.samples) == [WEEK.samples[n] for n in (0, 2, 3, 4)]
