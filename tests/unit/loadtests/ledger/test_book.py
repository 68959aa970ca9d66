"""Which runs there are, which one a word means, and which may go."""

from pathlib import Path

import pytest

from loadtests.ledger.book import Ledger, NoSuchRun
from loadtests.ledger.entry import Damaged
from loadtests.run_folder import RunFolder
from tests.support.kept_runs import kept_run
from tests.support.load_rows import a_session


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Three runs whose names do not tell their order, and things that are no runs."""
    for name, hour in (("beta-1", 12), ("beta-2", 10), ("alpha", 11)):
        kept_run(tmp_path / name, bell_at=f"2026-12-01T{hour}:00:00.000+00:00", rows=a_session(2))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("no run")
    (tmp_path / "baselines.json").write_text("{}")
    (tmp_path / "linked").symlink_to(tmp_path / "alpha")
    return Ledger(tmp_path)


def names(ledger: Ledger) -> list[str]:
    return [each.run for each in ledger.runs()]


def refusal(ledger: Ledger, word: str) -> str:
    with pytest.raises(NoSuchRun) as refused:
        ledger.find(word)
    return str(refused.value)


def test_runs_are_listed_by_their_bell_newest_first_and_nothing_else_is(ledger: Ledger) -> None:
    assert names(ledger) == ["beta-1", "alpha", "beta-2"]


def test_a_damaged_run_is_listed_as_such(ledger: Ledger) -> None:
    folder = RunFolder(ledger.folder / "alpha")
    folder.drill.write_text("{")
    assert [each.run for each in ledger.runs() if isinstance(each, Damaged)] == []  # its entry is still sound
    folder.index.unlink()
    assert [each.run for each in ledger.runs() if isinstance(each, Damaged)] == ["alpha"]


def test_a_ledger_that_is_not_there_is_empty(tmp_path: Path) -> None:
    empty = Ledger(tmp_path / "none")
    assert empty.runs() == []
    assert refusal(empty, "last") == f"there is no run in {tmp_path / 'none'} yet"
    assert refusal(empty, "x") == f"there is no run in {tmp_path / 'none'} yet"


@pytest.mark.parametrize(
    ("word", "name"),
    [("last", "beta-1"), ("last~0", "beta-1"), ("last~2", "beta-2"), ("al", "alpha"), ("beta-2", "beta-2")],
)
def test_a_word_names_a_run(ledger: Ledger, word: str, name: str) -> None:
    assert ledger.find(word).path == ledger.folder / name


def test_a_whole_name_is_meant_even_if_another_begins_with_it(ledger: Ledger) -> None:
    kept_run(ledger.folder / "alpha-2", rows=a_session(1))
    assert ledger.find("alpha").path.name == "alpha"


def test_a_path_is_a_run_wherever_it_lies(ledger: Ledger, tmp_path: Path) -> None:
    assert Ledger(tmp_path / "elsewhere").find(str(ledger.folder / "alpha")).path == ledger.folder / "alpha"


def test_last_leaves_out_what_is_damaged(ledger: Ledger) -> None:
    for file in ("drill.json", "run.json"):
        (ledger.folder / "beta-1" / file).unlink()
    assert ledger.find("last").path.name == "alpha"


def test_what_names_no_run_or_several_is_refused(ledger: Ledger) -> None:
    assert refusal(ledger, "beta") == "beta may be any of beta-1, beta-2"
    assert refusal(ledger, "gamma") == "no run begins with 'gamma'; the latest is beta-1"
    assert refusal(ledger, "") == "no run begins with ''; the latest is beta-1"
    assert refusal(ledger, "last~3") == f"there are only 3 runs in {ledger.folder}"


def test_many_runs_of_one_begin_are_not_all_named(ledger: Ledger) -> None:
    for at in range(9):
        kept_run(ledger.folder / f"many-{at}", rows=[], bell_at=f"2026-12-02T{at:02}:00:00+00:00")
    assert refusal(ledger, "many").endswith("many-3 and 3 more")


def test_the_newest_and_those_named_stay(ledger: Ledger) -> None:
    assert [each.run for each in ledger.removable(keep=1, kept=())] == ["alpha", "beta-2"]
    assert [each.run for each in ledger.removable(keep=0, kept={"alpha"})] == ["beta-1", "beta-2"]


def test_what_is_not_finished_or_damaged_is_not_offered(ledger: Ledger) -> None:
    for file in ("verdict.json", "run.json"):
        (ledger.folder / "alpha" / file).unlink()
    for file in ("drill.json", "run.json"):
        (ledger.folder / "beta-2" / file).unlink()
    assert [each.run for each in ledger.removable(keep=0, kept=())] == ["beta-1"]


def test_a_run_is_removed_and_nothing_else_can_be(ledger: Ledger) -> None:
    ledger.remove("alpha")
    assert names(ledger) == ["beta-1", "beta-2"]
    for word in ("notes", "linked", "../" + ledger.folder.name, "", ".", "beta-1/../beta-2"):
        with pytest.raises(NoSuchRun):
            ledger.remove(word)
    assert names(ledger) == ["beta-1", "beta-2"]
    assert (ledger.folder / "notes" / "todo.txt").exists()
