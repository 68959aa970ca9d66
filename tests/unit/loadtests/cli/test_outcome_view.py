"""What came of a drill is told in a screenful, or as JSON."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.cli.outcome_view import show_outcome, worst_failures
from loadtests.conduct.order import Exit, Outcome
from loadtests.domain.drill import Drill, Shape, Wire
from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.domain.reason import Cause, Reason
from loadtests.domain.targets import DEFAULT
from loadtests.domain.verdict import Whole, judge
from loadtests.run_folder import RunFolder


def spread(value: float) -> Spread:
    return Spread(count=200, mean=value, p50=value, p90=value, p95=value, p99=value, worst=value)


FIGURES = Figures(
    turns=200,
    failed=5,
    failures={"timeout": 2, "http_503": 1, "no_end": 1, "altered": 1},
    duration_s=60.0,
    sessions=10,
    completed=9,
    ttft=spread(2.25),
    e2e=spread(math.inf),
    turns_per_s=3.5,
    goodput_per_s=3.0,
    client_lag=spread(0.002),
    by_turn=tuple(
        Slice(key=turn, turns=10, failed=0, ttft=spread(0.4), e2e=spread(1.0), tpot=spread(0.02), cached_share=0.875)
        for turn in range(1, 8)
    ),
)


@pytest.fixture
def outcome(tmp_path: Path) -> Outcome:
    return Outcome(
        folder=RunFolder(tmp_path),
        figures=FIGURES,
        verdict=judge(FIGURES, DEFAULT),
        void=None,
        incomplete=None,
        exit_code=Exit.MISSED,
    )


def shown(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> str:
    show_outcome(outcome, as_json=False)
    return " ".join(capsys.readouterr().out.split())


def test_targets_and_by_how_much_they_were_missed(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(outcome, capsys)
    assert "ttft_p95_s ≤ 1.5 2.25 missed by 0.75 (50 %)" in told
    assert "e2e_p95_s ≤ 8 no answer missed goodput_share" in told
    assert "failure_share ≤ 0.001 0.025 missed by 0.024 (25 times the limit)" in told
    assert "200 turns, 5 failed; 9 of 10 sessions completed; 3.50 turns/s, 3.00 good ones" in told
    assert "client lag p99 2 ms" in told
    assert "missed; all of it lies in" in told


def test_times_by_turn_number(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(outcome, capsys)
    assert "5 10 400 ms 400 ms 87.5 %" in told
    assert "4 10 400 ms" not in told


def test_what_was_cut_or_spoiled_is_said(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    verdict = judge(FIGURES, DEFAULT, spoiled=("only 1 of 2 workers played",))
    told = shown(replace(outcome, verdict=verdict, incomplete="it was interrupted"), capsys)
    assert "incomplete: it was interrupted void: only 1 of 2 workers played void; all of it" in told


def test_a_late_client_is_told_once(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    late, queue = Reason(cause=Cause.CLIENT, says="It was late."), Reason(cause=Cause.QUEUE, says="They queued.")
    void = judge(replace(FIGURES, client_lag=spread(0.08)), DEFAULT)
    told = shown(replace(outcome, verdict=void, reasons=(late, queue)), capsys)
    assert "likely reason: They queued." in told
    assert "void: the client itself was late: p99 80 ms, at most 50 ms; play again with more --workers" in told
    assert "It was late." not in told
    assert "likely reason: It was late." in shown(replace(outcome, reasons=(late, queue)), capsys)


def test_how_many_turns_a_short_run_lacks_is_said(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    good = replace(FIGURES, failed=0, failures={}, ttft=spread(0.4), e2e=spread(1.0), good_turns=200)
    verdict = judge(good, DEFAULT, drill=Drill(wire=Wire.CHAT, shape=Shape.SINGLE))
    assert verdict.whole is Whole.UNPROVEN
    told = shown(replace(outcome, figures=good, verdict=verdict, exit_code=Exit.VOID), capsys)
    assert "0 of 200: the true share may be up to 1.49%; 2,795 more would do" in told
    assert "unproven: nothing was missed, but every target could be judged only with about 2,795 more turns" in told


def test_a_report_is_named_where_there_is_one(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    outcome.folder.report.touch()
    show_outcome(outcome, as_json=False)
    assert str(outcome.folder.report) in capsys.readouterr().out


def test_nothing_measured_is_told_too(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = Figures()
    told = shown(replace(outcome, figures=nothing, verdict=judge(nothing, DEFAULT)), capsys)
    assert "0 turns, 0 failed" in told


def test_what_was_refused_as_it_had_to_be_is_told_beside_the_turns(
    outcome: Outcome, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "refused as" not in shown(outcome, capsys)
    told = shown(replace(outcome, figures=replace(FIGURES, refused=3)), capsys)
    assert "3 more requests were refused as they had to be" in told


def test_a_knee_is_told(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    assert "knee: about 24 trainees" in shown(replace(outcome, figures=replace(FIGURES, knee=24.0)), capsys)


def test_the_three_worst_failures() -> None:
    assert worst_failures(FIGURES) == "2 timeout, 1 altered, 1 http_503 and 1 other kinds"
    assert worst_failures(Figures(failures={"timeout": 2})) == "2 timeout"


def test_json_alone(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    show_outcome(outcome, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["exit_code"], told["figures"]["turns"], told["verdict"]["whole"]) == (1, 200, "missed")
    assert told["figures"]["e2e"]["p95"] == "inf"
