"""A folder becomes a report, as often as one likes."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from loadtests.domain.reason import Cause
from loadtests.domain.verdict import Whole
from loadtests.report.run_reading import account_of, write_report
from loadtests.run_files import RunDamaged, read_object, write_object
from loadtests.run_folder import RunFolder
from tests.support.load_runs import a_run

LENIENT = {
    "failure_share": 0.5, "goodput_share": None, "ttft_p95_s": None, "ttft_planned_p95_s": None, "e2e_p95_s": None,
    "lost_turns": None, "doubled_turns": None, "altered_turns": None, "beyond": 1,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return a_run(tmp_path / "class")


def test_page_and_figures_are_written_and_written_again(folder: RunFolder) -> None:
    write_report(folder)
    first = folder.report.read_text()
    assert json.loads(folder.figures.read_text())["turns"] == 200
    folder.figures.unlink()
    write_report(folder)
    assert folder.report.read_text() == first
    assert json.loads(folder.figures.read_text())["ttft"]["p99"] == "inf"


def test_the_page_can_go_elsewhere_at_another_price(folder: RunFolder, tmp_path: Path) -> None:
    write_report(folder, to=tmp_path / "there.html", price_per_hour=36.0)
    assert not folder.report.exists()
    assert "at 36 for a replica" in (tmp_path / "there.html").read_text()


def test_the_price_of_the_run_is_that_of_its_facts_unless_another_is_given(tmp_path: Path) -> None:
    priced = a_run(tmp_path, facts={"price_per_hour": 2})
    assert account_of(priced).price_per_hour == 2
    assert account_of(priced, price_per_hour=0.0).price_per_hour == 0
    assert account_of(a_run(tmp_path / "other")).price_per_hour is None


def test_it_is_judged_by_the_targets_that_the_run_was_held_to(tmp_path: Path) -> None:
    lenient = {"failure_share": 0.5, "goodput_share": None, "ttft_p95_s": None, "ttft_planned_p95_s": None}
    few = {"e2e_p95_s": None, "lost_turns": None, "doubled_turns": None, "altered_turns": None, "beyond": 1}
    account = account_of(a_run(tmp_path, facts={"targets": {**lenient, **few}}))
    assert account.verdict.whole is Whole.PASSED
    assert account_of(a_run(tmp_path / "old", facts={"targets": None})).verdict.whole is Whole.MISSED


def test_reasons_are_found_in_what_was_measured(folder: RunFolder) -> None:
    assert [reason.cause for reason in account_of(folder).explaining] == [Cause.FAULT]


def test_a_crowded_machine_is_told_by_the_facts(tmp_path: Path) -> None:
    busy = a_run(tmp_path, facts={"load_average_after": [9.5, 4, 2], "machine": {"cpus": 2}})
    assert Cause.MACHINE in {reason.cause for reason in account_of(busy).reasons}
    strange_facts: tuple[dict[str, object], ...] = (
        {"load_average_after": []},
        {"load_average_after": ["x"], "machine": {"cpus": "2"}},
    )
    for facts in strange_facts:
        strange = account_of(a_run(tmp_path / str(len(facts)), facts=facts)).seen
        assert (strange.load_average, strange.cpus) == (None, None)


def test_what_the_conductor_knew_to_be_wrong_is_kept_once(folder: RunFolder) -> None:
    write_object(folder.verdict, {"void": ["a worker died", "a worker died"]})
    verdict = account_of(folder).verdict
    assert (verdict.whole, verdict.void) == (Whole.VOID, ("a worker died",))


def test_a_run_that_was_cut_short_has_not_passed(tmp_path: Path) -> None:
    account = account_of(a_run(tmp_path, facts={"targets": LENIENT, "incomplete": "Ctrl-C"}))
    assert (account.verdict.whole, account.incomplete) == (Whole.UNPROVEN, "Ctrl-C")
    assert account.reasons
    assert not account.explaining


def _lose_drill(folder: RunFolder) -> None:
    folder.drill.unlink()


def test_a_run_whose_conductor_was_killed_cannot_pass(tmp_path: Path) -> None:
    whole = a_run(tmp_path, facts={"targets": LENIENT})
    assert account_of(whole).verdict.whole is Whole.PASSED
    facts = read_object(whole.facts)
    del facts["incomplete"]
    write_object(whole.facts, facts)
    assert account_of(whole).verdict.whole is Whole.UNPROVEN
    assert account_of(whole).incomplete == "it was broken off, or is still being played"


def _lose_facts(folder: RunFolder) -> None:
    folder.facts.unlink()


def _spoil_rows(folder: RunFolder) -> None:
    folder.rows_of(0).write_text("{}\n")


def _spoil_targets(folder: RunFolder) -> None:
    write_object(folder.facts, {"targets": {"ttft_p95_s": -1}})


def _spoil_drill(folder: RunFolder) -> None:
    write_object(folder.drill, {"shape": "dance"})


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_lose_drill, "is not the folder of a load drill: there is no drill.json in it"),
        (_lose_facts, "facts.json cannot be read"),
        (_spoil_rows, "rows-0.jsonl, line 1: "),
        (_spoil_targets, "facts.json has targets that cannot be used: line 1: ttft_p95_s: must be above 0"),
        (_spoil_drill, "drill.json is not a load drill"),
    ],
)
def test_a_damaged_folder_says_what_is_wrong_with_it(
    folder: RunFolder, damage: Callable[[RunFolder], None], said: str
) -> None:
    damage(folder)
    with pytest.raises(RunDamaged, match=said):
        write_report(folder)
    assert not folder.report.exists()


def test_a_row_that_was_cut_off_is_left_out(folder: RunFolder) -> None:
    rows = folder.rows_of(0)
    rows.write_text(rows.read_text()[:-20])
    assert account_of(folder).figures.turns == 199


def test_what_cannot_be_written_is_said(folder: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(RunDamaged, match=f"{tmp_path}{os.sep}none{os.sep}there.html cannot be written"):
        write_report(folder, to=tmp_path / "none" / "there.html")
