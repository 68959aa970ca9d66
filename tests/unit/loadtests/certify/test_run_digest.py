from pathlib import Path

from loadtests.certify.run_digest import run_digest
from loadtests.run_folder import RunFolder


def folder(path: Path) -> RunFolder:
    path.mkdir()
    found = RunFolder(path)
    found.drill.write_text("{}")
    found.rows_of(0).write_text("row 1\n")
    found.lag_of(0).write_text("lag 1\n")
    return found


def test_it_follows_what_was_measured_and_nothing_else(tmp_path: Path) -> None:
    first, second = folder(tmp_path / "a"), folder(tmp_path / "b")
    assert run_digest(first) == run_digest(second)
    second.report.write_text("a page")
    second.figures.write_text("{}")
    assert run_digest(first) == run_digest(second)
    second.rows_of(0).write_text("row 2\n")
    assert run_digest(first) != run_digest(second)


def test_a_row_cannot_move_to_another_file(tmp_path: Path) -> None:
    first, second = folder(tmp_path / "a"), folder(tmp_path / "b")
    first.rows_of(1).write_text("row 2\nrow 3\n")
    second.rows_of(0).write_text("row 1\nrow 2\n")
    second.rows_of(1).write_text("row 3\n")
    assert run_digest(first) != run_digest(second)
