"""A regression as people read it: one line for each drill, and what to do next."""

from dataclasses import replace

import pytest
from rich.console import Console

from loadtests.cli.regress_view import history_table, regression_table, summary
from loadtests.domain.compared import Compared, Finding
from loadtests.domain.comparison import Comparison
from loadtests.ledger.baselines import Place
from loadtests.ledger.comparing import Held, SideRuns
from loadtests.ledger.entry import Entry
from loadtests.regress.record import row_of
from loadtests.regress.regression import Line, Regression

ENTRY = Entry(
    run="run-1", bell_at="", drill="d", targets="t", machine="m", shape="class", wire="turns", trainees=20,
    revision="abc", whole="missed", figures={"turns": 145.0, "failed": 2.0, "ttft.p95": 1.25, "e2e.p95": 3.5},
)  # fmt: skip
SIDE = SideRuns(names=("run-0",), seen=(), circumstances=(), by_turn=())


def metric(name: str, finding: Finding) -> Compared:
    return Compared(name=name, before=1.0, after=1.5, finding=finding, low=0.25, high=0.75)


def line(*found: Compared, name: str = "class") -> Line:
    comparison = Comparison(metrics=found, of="sessions", units=(20, 20))
    held = Held(before=SIDE, after=SIDE, comparison=comparison, warnings=(), change=None)
    return Line(name=name, entries=(ENTRY,), baseline=("run-0",), held=held, place=Place("s", name, "d", "m"))


def shown(capsys: pytest.CaptureFixture[str], *lines: Line) -> list[str]:
    Console(width=250).print(regression_table(Regression(suite="s", lines=lines)))
    return capsys.readouterr().out.splitlines()[1:]


def test_a_line_says_what_changed_and_by_how_much(capsys: pytest.CaptureFixture[str]) -> None:
    worse = [metric(f"ttft_p{at}_s", Finding.WORSE) for at in range(5)]
    (told,) = shown(capsys, line(*worse, metric("cached_share", Finding.BETTER)))
    assert told.split()[:6] == ["class", "missed", "145", "2", "1.25", "s"]
    assert "worse: ttft_p0_s +50.0% (+25.0% to +75.0%), ttft_p1_s" in told
    assert "and 2 more; better: cached_share +50.0 points" in told


def test_a_line_without_change_baseline_or_run_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(
        capsys,
        line(metric("ttft_p95_s", Finding.NOISE)),
        Line(name="kv", entries=(replace(ENTRY, figures={}),)),
        Line(name="soak", failure="the stack did not come up"),
    )
    assert told[0].rstrip().endswith("nothing changed beyond noise")
    assert told[1].rstrip().endswith("no baseline")
    assert told[1].split()[:4] == ["kv", "missed", "-", "-"]
    assert told[2].split() == ["soak", "not", "played", "-", "-", "-", "-", "the", "stack", "did", "not", "come", "up"]


def test_what_to_do_next_depends_on_what_there_was() -> None:
    first = Regression(suite="s", lines=(Line(name="kv", entries=(ENTRY,)), Line(name="soak", failure="no")))
    assert any("drillyard load accept" in each for each in summary(first, accepted=False))
    assert summary(first, accepted=True)[-1] == "accepted as baseline, except soak"
    later = Regression(suite="s", lines=(line(),))
    assert not any("accept" in each for each in summary(later, accepted=False))
    assert summary(replace(later, is_interrupted=True), accepted=False)[-1] == "interrupted"
    assert summary(Regression(suite="s", lines=()), accepted=False) == []


def test_warnings_and_changes_of_the_fleet_are_told_with_their_drill() -> None:
    found = line()
    assert found.held is not None
    doubtful = replace(found, held=replace(found.held, warnings=("run-1 is void",), change="the fleet was a"))
    told = summary(Regression(suite="s", lines=(doubtful,)), accepted=False)
    assert told[1:] == ["class: not comparable: run-1 is void", "class: the fleet was a"]


def test_former_regressions_are_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    regression = Regression(suite="s", lines=(line(metric("a", Finding.WORSE)), Line(name="kv", failure="no")))
    row = row_of(regression, at="2026-12-01T10:05:00Z", change="max-num-seqs [64]", accepted=True)
    Console(width=250).print(history_table([row, {"suite": "strange"}]))
    told = capsys.readouterr().out.splitlines()
    cells = [cell.strip() for cell in told[1].split("  ") if cell.strip()]
    assert cells == ["2026-12-01 10:05", "s", "abc", "max-num-seqs [64]", "class 1", "class, kv", "accepted"]
    assert "strange" in told[2]


def test_a_record_that_others_wrote_is_shown_as_far_as_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    strange: list[dict[str, object]] = [
        {"suite": "[/]", "revision": "[/]", "at": "[/]", "drills": 7},
        {"drills": [{"name": "[/x]", "worse": 3, "better": ["a"], "failure": "x"}, 5]},
    ]
    Console(width=250).print(history_table(strange))
    assert "[/x] 1" in capsys.readouterr().out
