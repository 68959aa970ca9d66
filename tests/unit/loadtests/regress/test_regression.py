"""A suite is played to its end whatever happens, and each drill is held against what was accepted."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from loadtests.conduct.order import DrillFailed
from loadtests.domain.compared import Finding
from loadtests.domain.drill import Drill, Shape
from loadtests.domain.targets import DEFAULT
from loadtests.domain.verdict import Whole
from loadtests.ledger.baselines import Baselines
from loadtests.ledger.book import Ledger
from loadtests.regress.regression import Regress, Regression
from loadtests.regress.suite import Item, Suite
from loadtests.run_files import read_object, write_object
from loadtests.run_folder import RunFolder
from tests.support.crowd_rows import Crowd, crowd_rows
from tests.support.kept_runs import kept_run

SUITE = Suite(
    name="s",
    items=(
        Item(name="class", drill=Drill(), targets=DEFAULT),
        Item(name="soak", drill=Drill(shape=Shape.SOAK), targets=DEFAULT),
    ),
)


@dataclass
class Stage:
    """Plays by writing what would have been measured: `by_name` says how slow a drill is, or what goes wrong."""

    folder: Path
    by_name: dict[str, float | Exception] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    window_tokens: int = 4096
    seed: int = 0
    said: list[str] = field(default_factory=list)

    def play(self, item: Item) -> RunFolder:
        self.seed += 1
        slower = self.by_name.get(item.name, 1.0)
        if isinstance(slower, Exception):
            raise slower
        rows = crowd_rows(Crowd(seed=self.seed, sessions=50, turns=5, slower=slower, cold=0.0))
        drill = replace(item.drill, window_tokens=self.window_tokens)
        return kept_run(self.folder / f"run-{self.seed}", drill=drill, rows=rows, targets=DEFAULT, **self.facts)

    def regress(self, suite: Suite = SUITE, *, rounds: int = 1) -> Regression:
        return Regress(ledger=Ledger(self.folder), play=self.play, say=self.said.append, rounds=rounds)(suite)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def accept(stage: Stage, regression: Regression) -> None:
    Baselines(stage.folder).accept(regression.acceptable())


def test_a_first_regression_has_nothing_to_be_held_against(stage: Stage) -> None:
    found = stage.regress()
    assert [(line.name, line.baseline, line.held) for line in found.lines] == [("class", (), None), ("soak", (), None)]
    assert found.exit_code == 0
    assert stage.said == ["[1/2] class", "[2/2] soak"]


def test_what_was_accepted_is_what_later_ones_are_held_against(stage: Stage) -> None:
    accept(stage, stage.regress())
    found = stage.regress()
    assert [line.baseline for line in found.lines] == [("run-1",), ("run-2",)]
    assert [line.changed(Finding.WORSE) for line in found.lines] == [(), ()]
    assert found.exit_code == 0


def test_something_worse_fails_the_regression_and_names_its_drill(stage: Stage) -> None:
    accept(stage, stage.regress())
    stage.by_name["soak"] = 3.0
    found = stage.regress()
    assert [bool(line.changed(Finding.WORSE)) for line in found.lines] == [False, True]
    assert found.exit_code == 1


def test_something_better_does_not_fail_it(stage: Stage) -> None:
    accept(stage, stage.regress())
    stage.by_name["class"] = 0.3
    found = stage.regress()
    assert found.lines[0].changed(Finding.BETTER)
    assert found.exit_code == 0


def test_a_baseline_is_kept_until_another_is_accepted(stage: Stage) -> None:
    accept(stage, stage.regress())
    stage.regress()
    assert [line.baseline for line in stage.regress().lines] == [("run-1",), ("run-2",)]


def test_a_drill_that_cannot_be_played_does_not_stop_the_rest(stage: Stage) -> None:
    stage.by_name["class"] = DrillFailed("the stack did not come up")
    found = stage.regress()
    assert [line.failure for line in found.lines] == ["the stack did not come up", None]
    assert [line.whole for line in found.lines] == [None, Whole.UNPROVEN]
    assert found.exit_code == 1
    assert "[1/2] class could not be played: the stack did not come up" in stage.said
    assert [place.name for place in found.acceptable()] == ["soak"]


def test_a_missed_target_fails_it_without_any_baseline(stage: Stage) -> None:
    stage.by_name["class"] = 9.0
    found = stage.regress()
    assert found.lines[0].whole is Whole.MISSED
    assert found.exit_code == 1
    assert [place.name for place in found.acceptable()] == ["class", "soak"]  # where tuning begins from


def test_a_run_that_says_nothing_cannot_be_accepted(stage: Stage) -> None:
    stage.facts = {"incomplete": "it was interrupted"}
    found = stage.regress()
    assert found.acceptable() == {}


def test_a_void_run_leaves_with_3_and_cannot_be_accepted(stage: Stage) -> None:
    def play(item: Item) -> RunFolder:
        folder = stage.play(item)
        write_object(folder.verdict, {**read_object(folder.verdict), "whole": "void"})
        return folder

    found = Regress(ledger=Ledger(stage.folder), play=play, say=stage.said.append)(SUITE)
    assert [line.whole for line in found.lines] == [Whole.VOID, Whole.VOID]
    assert (found.exit_code, found.acceptable()) == (3, {})


def test_another_machine_has_its_own_baseline(stage: Stage) -> None:
    accept(stage, stage.regress())
    stage.facts = {"machine": {"cpu": "another", "cpus": 64}}
    assert [line.baseline for line in stage.regress().lines] == [(), ()]


def test_a_fleet_of_another_window_is_held_against_the_same_baseline(stage: Stage) -> None:
    accept(stage, stage.regress())
    stage.window_tokens = 8192
    assert [line.baseline for line in stage.regress().lines] == [("run-1",), ("run-2",)]


def test_each_drill_is_played_as_often_as_asked_and_pooled(stage: Stage) -> None:
    accept(stage, stage.regress(rounds=2))
    found = stage.regress(rounds=2)
    assert [line.baseline for line in found.lines] == [("run-1", "run-2"), ("run-3", "run-4")]
    held = found.lines[0].held
    assert held is not None
    assert held.comparison.units == (100, 100)
    assert stage.said[:2] == ["[1/2] class, run 1 of 2", "[1/2] class, run 2 of 2"]


def test_a_baseline_that_is_gone_is_said(stage: Stage) -> None:
    accept(stage, stage.regress())
    Ledger(stage.folder).remove("run-1")
    found = stage.regress()
    failure = found.lines[0].failure
    assert failure is not None
    assert failure.startswith("its baseline cannot be read: no run begins with 'run-1'")
    assert found.lines[1].held is not None
    assert found.exit_code == 1


def test_an_interruption_keeps_what_was_played(stage: Stage) -> None:
    def play(item: Item) -> RunFolder:
        if item.name == "soak":
            raise KeyboardInterrupt
        return stage.play(item)

    found = Regress(ledger=Ledger(stage.folder), play=play, say=stage.said.append)(SUITE)
    assert [line.name for line in found.lines] == ["class"]
    assert (found.is_interrupted, found.exit_code) == (True, 130)
