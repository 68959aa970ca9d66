"""What the ledger knows of a run, and what it makes of a damaged one."""

import json
from pathlib import Path

import pytest

from loadtests.domain.drill import Drill, Shape
from loadtests.domain.targets import DEFAULT
from loadtests.ledger.entry import Damaged, Entry, entry_of, fleet_of, keep, machine_digest, main_figures, read_entry
from loadtests.run_files import RunDamaged, read_object, write_object
from loadtests.run_folder import RunFolder
from tests.support.kept_runs import MACHINE, kept_run
from tests.support.load_rows import a_failed_turn, a_session


def entry(folder: RunFolder) -> Entry:
    found = read_entry(folder)
    assert isinstance(found, Entry)
    return found


def test_a_run_is_entered_with_its_circumstances_and_main_figures(tmp_path: Path) -> None:
    replicas = [{"id": str(at), "profile": "card", "version": "0.32.0"} for at in range(2)]
    found = entry(kept_run(tmp_path / "run", rows=a_session(4), replicas=replicas))
    assert (found.run, found.shape, found.wire, found.trainees) == ("run", "class", "turns", 20)
    assert (found.drill, found.targets) == (Drill().digest, DEFAULT.digest)
    assert (found.revision, found.fleet, found.whole) == ("a" * 40, ("2 x card 0.32.0",), "unproven")
    assert found.figures["turns"] == 4
    assert found.figures["ttft.p95"] == 0.5
    assert found.figures["goodput_share"] == 1
    assert found.figures["cold_share"] == 0


def test_an_entry_is_read_as_it_was_written_even_with_endless_times(tmp_path: Path) -> None:
    folder = kept_run(tmp_path / "run", rows=[a_failed_turn()])
    assert read_object(folder.index)["figures"]["ttft.p95"] == "inf"  # type: ignore[index]
    assert entry(folder) == entry_of(folder)
    assert entry(folder).figures["ttft.p95"] == float("inf")


def test_what_was_entered_is_believed_until_it_is_damaged(tmp_path: Path) -> None:
    folder = kept_run(tmp_path / "run")
    told = read_object(folder.index)
    write_object(folder.index, {**told, "shape": "soak"})
    assert entry(folder).shape == "soak"
    for spoiled in ("{", json.dumps({**told, "trainees": "many"}), json.dumps({**told, "format": 9}), "{}"):
        folder.index.write_text(spoiled)
        assert entry(folder).shape == "class"


def test_a_copy_has_its_own_name(tmp_path: Path) -> None:
    folder = kept_run(tmp_path / "run")
    folder.path.rename(tmp_path / "other")
    assert entry(RunFolder(tmp_path / "other")).run == "other"


def test_a_run_that_is_not_over_has_no_verdict(tmp_path: Path) -> None:
    folder = kept_run(tmp_path / "run")
    for file in (folder.index, folder.verdict, folder.figures):
        file.unlink()
    assert (entry(folder).whole, entry(folder).figures) == (None, {})


def test_a_run_that_was_cut_off_says_so(tmp_path: Path) -> None:
    assert entry(kept_run(tmp_path / "run", incomplete="it was interrupted")).incomplete == "it was interrupted"


def test_a_damaged_run_is_told_as_such(tmp_path: Path) -> None:
    folder = kept_run(tmp_path / "run")
    folder.index.unlink()
    folder.facts.write_text("{")
    found = read_entry(folder)
    assert found == Damaged("run", f"{folder.facts} is not JSON")
    assert found.as_json() == {"run": "run", "damaged": f"{folder.facts} is not JSON"}
    with pytest.raises(RunDamaged):
        keep(folder)


def test_a_machine_is_what_it_is_made_of_and_not_its_kernel() -> None:
    one = machine_digest({"machine": MACHINE})
    assert one == machine_digest({"machine": {**MACHINE, "kernel": "Linux 7"}})
    assert one != machine_digest({"machine": {**MACHINE, "cpus": 4}})
    assert machine_digest({}) == machine_digest({"machine": {"kernel": "Linux 6"}}) == ""


def test_a_fleet_is_counted_by_kind() -> None:
    assert fleet_of({"replicas": [{"id": "a", "profile": "x"}, {"id": "b"}, {"id": "c", "profile": "x"}]}) == (
        "1 x unknown",
        "2 x x",
    )
    assert fleet_of({}) == ()


def test_the_trainees_of_a_staircase_are_those_of_its_top(tmp_path: Path) -> None:
    drill = Drill(shape=Shape.STAIRCASE, stairs=(5, 40))
    assert entry(kept_run(tmp_path / "run", drill=drill)).trainees == 40


def test_figures_that_are_not_there_are_not_invented() -> None:
    assert main_figures({}) == {}
    assert main_figures({"turns": 0, "good_turns": 0, "ttft": {"p50": None}})["goodput_share"] is None
