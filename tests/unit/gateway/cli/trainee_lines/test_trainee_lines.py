from pathlib import Path

import pytest

from gateway.cli.failure import CommandFailed
from gateway.cli.trainee_lines import BUNDLED, bundled, from_file, line_for, lines_in


@pytest.mark.parametrize("locale", BUNDLED)
def test_each_language_has_fifty_different_lines(locale: str) -> None:
    lines = bundled(locale)
    assert len(set(lines)) == len(lines) == 50
    assert all(len(line) <= 200 for line in lines)


def test_lines_go_by_language_and_are_english_for_all_others() -> None:
    assert bundled("zh-CN") == bundled("zh") == bundled("ZH_hans") != bundled("en-GB")
    assert bundled("fr") == bundled("en")


def test_each_trainee_begins_at_another_line_and_goes_round() -> None:
    lines = ("a", "b", "c")
    assert [line_for(lines, trainee=1, turn=turn) for turn in (1, 2, 3, 4)] == ["b", "c", "a", "b"]
    assert {line_for(lines, trainee=trainee, turn=1) for trainee in (1, 2, 3)} == set(lines)


def test_comments_and_empty_lines_are_left_out() -> None:
    assert lines_in("# said\n\n one \r\ntwo\u2028still two\n") == ("one", "two\u2028still two")


def test_a_file_of_own_lines_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("你好\nhello\n", encoding="utf-8")
    assert from_file(path) == ("你好", "hello")


def test_a_file_without_lines_or_none_at_all_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing\n")
    (tmp_path / "latin").write_bytes(b"\xff\xfe\xfa")
    for name in ("empty", "missing", "latin"):
        with pytest.raises(CommandFailed, match=name):
            from_file(tmp_path / name)
