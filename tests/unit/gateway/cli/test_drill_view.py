import io
import math

import pytest
from rich.console import Console

from gateway.cli.drill_board import Stage
from gateway.cli.drill_summary import Failure, TurnRow
from gateway.cli.drill_view import console, seconds, share, watched
from gateway.cli.folding_table import folding_table
from sessions.domain.turn import Usage

ROW = TurnRow(
    1, "0123456789", 1, 0.0, 0.0, ttft_s=0.25, total_s=2.0, usage=Usage(100, 93, 7), replica="a", pin="new", retries=2
)


def test_without_a_terminal_each_turn_is_one_line_at_once() -> None:
    out = io.StringIO()
    with watched(Console(file=out, width=40), trainees=1, turns=1) as board:
        board.add(ROW)
        assert out.getvalue() == (
            "trainee 1 turn 1: first text 0.25 s, total 2.00 s, 93 % of 100 tokens cached, a (new), "
            "sent again 2 times\n"
        )
        board.fail(Failure(1, None, None, "no_seat", "[none]"))
    assert out.getvalue().endswith("trainee 1: failed: no_seat: [none]\n")


def test_on_a_terminal_the_last_state_stays_as_a_table() -> None:
    out = io.StringIO()
    screen = Console(file=out, width=120, force_terminal=True, color_system=None, legacy_windows=False)
    with watched(screen, trainees=2, turns=3) as board:
        board.stage(1, Stage.CLOSED, session="0123456789", turn=1)
        board.add(ROW)
    last = out.getvalue()
    assert "1 of 6 turns, 0 failures" in last
    assert "01234567" in last
    assert "closed" in last
    assert "93 %" in last


def test_what_looks_like_markup_is_words(capsys: pytest.CaptureFixture[str]) -> None:
    table = folding_table("remarks")
    table.add_row("at least 2 [/usr/lib] [bold] :skull:")
    console().print(table)
    assert "at least 2 [/usr/lib] [bold] :skull:" in capsys.readouterr().out


def test_figures_say_when_there_is_none_and_when_it_never_came() -> None:
    assert (seconds(None), seconds(math.inf), seconds(1.239)) == ("-", "never", "1.24 s")
    assert (share(1, 3), share(0, 0)) == ("33 %", "-")
