import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from gateway.local.progress import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def progress(*, terminal: bool) -> tuple[Progress, Clock, Callable[[], str]]:
    out = io.StringIO()
    clock = Clock()
    console = Console(file=out, force_terminal=terminal, width=100)
    return Progress(console=console, clock=clock), clock, out.getvalue


def test_without_a_terminal_a_step_is_plain_lines_now_and_then(tmp_path: Path) -> None:
    log = tmp_path / "pip.log"
    shown, clock, text = progress(terminal=False)
    with shown.step("installing vLLM", log=log) as tick:
        log.write_text("Collecting numpy\n")
        for now in (1.0, 14.0, 16.0, 17.0, 32.0):
            clock.now = now
            tick()
    assert text().splitlines() == [
        "installing vLLM …",
        "  still installing vLLM (16 s) – Collecting numpy",
        "  still installing vLLM (32 s) – Collecting numpy",
        "installing vLLM: done in 32.0 s",
    ]


@pytest.mark.parametrize(("since", "shown_too"), [(None, ""), (0, " – the end of the last run")])
def test_the_words_of_an_earlier_run_are_not_taken_for_this_ones(
    tmp_path: Path, since: int | None, shown_too: str
) -> None:
    (tmp_path / "pip.log").write_text("the end of the last run\n")
    shown, clock, text = progress(terminal=False)
    with shown.step("installing", log=tmp_path / "pip.log", since=since) as tick:
        clock.now = 16.0
        tick()
    assert text().splitlines()[1] == f"  still installing (16 s){shown_too}"


def test_in_a_terminal_one_line_moves(tmp_path: Path) -> None:
    log = tmp_path / "pip.log"
    shown, clock, text = progress(terminal=True)
    with shown.step("installing vLLM", log=log) as tick:
        log.write_text("Collecting numpy\n")
        clock.now = 0.05
        tick()
        clock.now = 3.0
        tick()
    assert "(3 s) – Collecting numpy" in text()
    assert text().rstrip().endswith("installing vLLM: done in 3.0 s")


@pytest.mark.parametrize("terminal", [True, False])
def test_a_step_that_fails_is_not_called_done(terminal: bool) -> None:
    shown, _, text = progress(terminal=terminal)
    with pytest.raises(ValueError, match="broken"), shown.step("installing"):
        raise ValueError("broken")
    assert "done" not in text()


def test_brackets_in_a_note_are_shown_as_they_are() -> None:
    shown, _, text = progress(terminal=False)
    shown.note("[red]not a colour[/red]")
    assert text() == "[red]not a colour[/red]\n"
