"""Runs are taken out of the ledger, pooled, and held against each other."""

import json
from pathlib import Path

import pytest

from loadtests.domain.compared import Finding
from loadtests.domain.drill import Drill
from loadtests.ledger.book import Ledger, NoSuchRun
from loadtests.ledger.comparing import Held, held, runs_named, side_of
from loadtests.run_files import RunDamaged
from tests.support.crowd_rows import Crowd, crowd_rows
from tests.support.kept_runs import MACHINE, kept_run


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Two runs as they were, and one that is half as quick."""
    for name, seed, slower in (("a1", 1, 1.0), ("a2", 2, 1.0), ("b", 3, 1.5)):
        kept_run(tmp_path / name, rows=crowd_rows(Crowd(seed=seed, slower=slower)))
    return Ledger(tmp_path)


def compared(ledger: Ledger, before: str, after: str) -> Held:
    return held(side_of(runs_named(ledger, before)), side_of(runs_named(ledger, after)))


def test_what_became_slower_is_worse(ledger: Ledger) -> None:
    found = compared(ledger, "a1", "b")
    assert "ttft_p50_s" in [each.name for each in found.comparison.found(Finding.WORSE)]
    assert (found.warnings, found.change) == ((), None)


def test_several_runs_are_pooled(ledger: Ledger) -> None:
    found = compared(ledger, "a1, a2", "b")
    assert found.before.told == "a1 + a2"
    assert found.comparison.units == (80, 40)


def test_the_same_is_said_each_time(ledger: Ledger) -> None:
    assert compared(ledger, "a1", "b") == compared(ledger, "a1", "b")


def test_first_texts_are_told_by_turn_number(ledger: Ledger) -> None:
    by_turn = compared(ledger, "a1", "b").before.by_turn
    assert [number for number, _, _ in by_turn] == list(range(1, 21))
    assert all(p50 is not None and p95 is not None and p50 <= p95 for _, p50, p95 in by_turn)


def test_what_is_not_comparable_is_said_and_compared_all_the_same(ledger: Ledger) -> None:
    other = {**MACHINE, "cpus": 64}
    kept_run(ledger.folder / "c", drill=Drill(think_s=5), machine=other, replicas=[{"profile": "x"}])
    found = compared(ledger, "a1", "c")
    assert found.warnings == (
        "c is another drill than a1: think_s 20.0, then 5",
        "c was played on another machine than a1",
    )
    assert found.change == "the fleet was unknown, and is 1 x x"
    assert found.comparison.metrics


def test_it_is_told_for_programs(ledger: Ledger) -> None:
    told = json.loads(json.dumps(compared(ledger, "a1,a2", "b").as_json(), allow_nan=False))
    assert (told["before"], told["after"], told["drawn"], told["units"]) == (["a1", "a2"], ["b"], "sessions", [80, 40])
    assert {each["name"] for each in told["metrics"]} >= {"ttft_p95_s", "goodput_share", "lost_turns"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "names no run"),
        (" , ", "names no run"),
        ("a1,a1", "names a run twice"),
        ("a1,zz", "no run begins with 'zz'"),
    ],
)
def test_what_names_no_runs_is_refused(ledger: Ledger, words: str, why: str) -> None:
    with pytest.raises(NoSuchRun, match=why):
        runs_named(ledger, words)


def test_a_damaged_run_is_refused(ledger: Ledger) -> None:
    found = runs_named(ledger, "b")
    found[0].rows_of(0).write_text("{}\n")
    with pytest.raises(RunDamaged):
        side_of(found)


def test_the_drill_of_a_run_is_its_own(ledger: Ledger) -> None:
    side = side_of(runs_named(ledger, "a1,a2"))
    assert [each.drill for each in side.circumstances] == [Drill(), Drill()]
    assert [each.run for each in side.circumstances] == ["a1", "a2"]
