"""A run's folder becomes figures and a verdict; what the client spoiled is void."""

from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.conduct.judging import judged, spoiled
from loadtests.conduct.order import Exit, Order
from loadtests.conduct.playing import Played
from loadtests.domain.drill import Drill
from loadtests.domain.rows import Kind, Row
from loadtests.domain.server import LagSample
from loadtests.domain.targets import Targets
from loadtests.domain.timetable import timetable
from loadtests.domain.verdict import Whole
from loadtests.run_files import line_of, read_object, write_object
from loadtests.run_folder import RunFolder
from loadtests.target import Target

TARGETS = Targets(
    ttft_p95_s=None, ttft_planned_p95_s=None, bell_ttft_p95_s=None, e2e_p95_s=None, goodput_share=None,
    failure_share=None, cold_share=None, lost_turns=None, doubled_turns=None, altered_turns=None, good_ttft_s=0.5,
)  # fmt: skip
PLAYED = Played(0)
DRILL = Drill(trainees=1, turns=(2, 2))
PLANNED_S = [ask.at_s for ask in timetable(DRILL)[0].visits[0].asks]


def row(turn: int, *, ttft: float) -> str:
    at_s = PLANNED_S[turn - 1]
    made = Row(
        kind=Kind.TURN,
        worker=0,
        trainee=0,
        session="s",
        turn=turn,
        planned_s=at_s,
        started_s=at_s,
        free_s=at_s,
        first_s=at_s + ttft,
        last_s=at_s + 0.9,
        ended_s=at_s + 0.9,
        replica="replica-1",
    )
    return made.as_json() + "\n"


@pytest.fixture
def order(tmp_path: Path) -> Order:
    folder = RunFolder(tmp_path)
    write_object(folder.drill, DRILL.as_json())
    write_object(folder.facts, {"targets": TARGETS.as_json(), "incomplete": None})
    folder.rows_of(0).write_text(row(1, ttft=0.2) + row(2, ttft=0.8))
    folder.lag_of(0).write_text(line_of(LagSample(1.0, 0, 0.001)))
    write_object(folder.path / "trouble-0.json", {})
    return Order(drill=DRILL, target=Target(base_urls=("http://127.0.0.1:1",)), folder=folder, targets=TARGETS)


def test_figures_and_verdict_are_written_beside_what_they_are_made_of(order: Order) -> None:
    outcome = judged(order, PLAYED, [])
    assert (outcome.figures.turns, outcome.verdict.whole, outcome.exit_code) == (2, Whole.PASSED, Exit.PASSED)
    assert read_object(order.folder.figures)["turns"] == 2
    assert read_object(order.folder.verdict)["whole"] == "passed"
    assert order.folder.report.exists()


def test_good_turns_are_those_within_the_limits_of_the_targets(order: Order) -> None:
    figures = judged(order, PLAYED, []).figures
    assert figures.goodput_per_s == pytest.approx(figures.turns_per_s / 2)


def test_a_run_that_was_cut_cannot_pass(order: Order) -> None:
    write_object(order.folder.facts, {"targets": TARGETS.as_json(), "incomplete": "nothing came for 130 s"})
    outcome = judged(order, Played(None, "nothing came for 130 s"), [])
    assert (outcome.verdict.whole, outcome.exit_code) == (Whole.UNPROVEN, Exit.VOID)
    assert outcome.incomplete == "nothing came for 130 s"


def test_parts_that_a_cut_left_unplayed_are_not_the_client_s_fault(order: Order) -> None:
    write_object(order.folder.path / "trouble-director.json", {"unplayed": 3})
    cut = Played(None, "nothing came for 130 s")
    assert list(spoiled(order, cut)) == []
    assert list(spoiled(order, PLAYED)) == ["director: 3 unplayed"]
    write_object(order.folder.path / "trouble-director.json", {"lost_worker": 1, "unplayed": 3})
    assert list(spoiled(order, cut)) == ["director: 1 lost_worker"]


def test_an_interrupted_one_says_so(order: Order) -> None:
    outcome = judged(order, Played(None, "it was interrupted", is_interrupted=True), [])
    assert outcome.exit_code is Exit.INTERRUPTED


def test_a_fault_that_could_not_be_caused_proves_nothing(order: Order) -> None:
    outcome = judged(order, PLAYED, ["kill@1:replica-1: it is gone already"])
    assert (outcome.verdict.whole, outcome.exit_code) == (Whole.VOID, Exit.VOID)
    assert "could not be caused: kill@1" in str(outcome.void)


def test_without_a_single_turn_nothing_passes(order: Order) -> None:
    order.folder.rows_of(0).write_text("")
    assert judged(order, PLAYED, []).exit_code is not Exit.PASSED


def test_a_client_that_did_its_work_spoils_nothing(order: Order) -> None:
    assert list(spoiled(order, PLAYED)) == []
    assert list(spoiled(order, Played(None, "it was interrupted"))) == []


def test_a_client_that_failed_spoils_the_run(order: Order) -> None:
    (told,) = spoiled(order, Played(1, last_words="KeyError: 'part'"))
    assert told == "the trainees' process left with 1: KeyError: 'part'"
    (mute,) = spoiled(order, Played(-9))
    assert "it said nothing" in mute


def test_a_worker_that_is_missing_spoils_the_run(order: Order) -> None:
    assert "only 1 of 2 workers played" in list(spoiled(replace(order, workers=2), PLAYED))


def test_a_worker_that_could_not_end_its_book_spoils_the_run(order: Order) -> None:
    (order.folder.path / "trouble-0.json").unlink()
    assert list(spoiled(order, PLAYED)) == ["1 of 1 workers did not come to the end of their books"]
    assert list(spoiled(order, Played(None, "it was interrupted"))) == []


def test_rows_that_are_missing_spoil_the_run(order: Order) -> None:
    order.folder.rows_of(0).write_text(row(1, ttft=0.2))
    outcome = judged(order, PLAYED, [])
    assert (outcome.verdict.whole, outcome.void) == (Whole.VOID, "of 1 messages of the timetable there is no row")
    assert list(spoiled(order, Played(None, "it was interrupted"))) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [('{"KeyError": 3, "late": 1}', "0: 3 KeyError, 1 late"), ("{", "not JSON"), ("[1]", "not a JSON")],
)
def test_trouble_of_a_worker_spoils_the_run(order: Order, content: str, told: str) -> None:
    (order.folder.path / "trouble-0.json").write_text(content)
    (said,) = spoiled(order, PLAYED)
    assert told in said
