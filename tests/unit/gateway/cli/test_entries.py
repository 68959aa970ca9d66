"""Commands that are imported once they are called."""

import sys

import pytest
import typer

from gateway.cli.entries import Entry, with_entries

SEARCH = Entry("capacity", "gateway.cli.capacity", "capacity", "Plan a class.")
GROUP = Entry("keys", "gateway.cli.keys", "app", "Keep keys.")


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    app = with_entries(typer.Typer(add_completion=False), (SEARCH, GROUP))
    with pytest.raises(SystemExit) as ended:
        app(args=list(words), prog_name="drillyard")
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_the_help_of_all_imports_none(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, SEARCH.module, raising=False)
    shown = told(capsys, "--help")
    assert SEARCH.help in shown
    assert SEARCH.module not in sys.modules


def test_one_command_reads_its_own_words_and_has_its_examples(capsys: pytest.CaptureFixture[str]) -> None:
    shown = told(capsys, "capacity", "--help")
    assert "Usage: drillyard capacity" in shown
    assert "drillyard capacity --model qwen2.5-7b" in shown


def test_a_group_has_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert "rotate" in told(capsys, "keys", "--help")
