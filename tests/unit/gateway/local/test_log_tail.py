from pathlib import Path

import pytest

from gateway.local.log_tail import last_line, last_meaningful_line, tells_of_a_full_disk


def log_of(folder: Path, text: str) -> Path:
    file = folder / "a.log"
    file.write_text(text)
    return file


def test_the_last_line_that_speaks_of_a_failure_is_chosen(tmp_path: Path) -> None:
    log = log_of(tmp_path, "starting\nValueError: the window is too long\nshutting down\n\n")
    assert last_meaningful_line(log) == "ValueError: the window is too long"


def test_a_line_that_only_points_to_another_is_passed_over(tmp_path: Path) -> None:
    text = (
        "ValueError: the window is too long\nRuntimeError: Engine core initialization failed. See root cause above.\n"
    )
    assert last_meaningful_line(log_of(tmp_path, text)) == "ValueError: the window is too long"


def test_without_any_failure_the_last_line_is_taken(tmp_path: Path) -> None:
    assert last_meaningful_line(log_of(tmp_path, "one\ntwo\n")) == "two"


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_log_is_said_to_be_empty(tmp_path: Path, text: str) -> None:
    assert "wrote nothing" in last_meaningful_line(log_of(tmp_path, text))


def test_a_log_that_is_not_there_is_said_to_be_empty(tmp_path: Path) -> None:
    assert "wrote nothing" in last_meaningful_line(tmp_path / "none")
    assert last_line(tmp_path / "none") == ""


def test_colours_and_overlong_lines_are_cut(tmp_path: Path) -> None:
    line = last_meaningful_line(log_of(tmp_path, "\x1b[31mERROR\x1b[0m " + "x" * 1000))
    assert line.startswith("ERROR x")
    assert len(line) == 300


def test_the_last_line_is_what_was_said_last(tmp_path: Path) -> None:
    assert last_line(log_of(tmp_path, "ERROR\nCollecting numpy\n")) == "Collecting numpy"


def test_what_an_earlier_run_wrote_is_not_this_ones_failure(tmp_path: Path) -> None:
    earlier = "OSError: No space left on device\n"
    log = log_of(tmp_path, earlier + "FATAL: another reason\n")
    assert tells_of_a_full_disk(log)
    assert not tells_of_a_full_disk(log, since=len(earlier))
    assert last_meaningful_line(log_of(tmp_path, earlier), since=len(earlier)) == "it wrote nothing to its log"
