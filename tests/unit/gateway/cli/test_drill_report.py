import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from gateway.cli.drill_plan import DrillPlan
from gateway.cli.drill_report import MAX_LISTED, Report, as_json, check_writable, show, write
from gateway.cli.drill_summary import Failure, TurnRow, summary
from gateway.cli.failure import CommandFailed
from sessions.domain.turn import Usage

PLAN = DrillPlan("aa", trainees=2, turns=2, think_s=1.0, timeout_s=9.0, seed=5, lines=("never written",))


def report(*rows: TurnRow, others: tuple[Failure, ...] = (), stopped: bool = False) -> Report:
    found = summary(rows, others=others, wanted_turns=4)
    return Report(PLAN, "http://127.0.0.1:9", stopped=stopped, took_s=3.0, summary=found, rows=rows)


def row(turn: int, *, replica: str = "a", failed: bool = False) -> TurnRow:
    failure = Failure(1, "s", turn, "cut", "was [red]cut[/red]") if failed else None
    return TurnRow(
        1, "s", turn, 0.0, 0.5, ttft_s=0.25, total_s=2.0, usage=Usage(100, 80, 7), replica=replica, failure=failure
    )


def shown(told: Report) -> str:
    out = io.StringIO()
    show(told, Console(file=out, width=160))
    return out.getvalue()


def test_the_tables_tell_figures_by_turn_and_in_all() -> None:
    text = shown(report(row(1), row(2)))
    assert "0.25" in text
    assert "80 %" in text
    assert "2 of 4 turns by 2 trainees in 3.0 s" in text
    assert text.rstrip().endswith("drill passed")


def test_failures_and_moves_are_listed_as_they_are() -> None:
    text = shown(report(row(1), row(2, replica="b", failed=True)))
    assert "trainee 1 turn 2: a -> b (no reason)" in text
    assert "trainee 1 turn 2: failed: cut: was [red]cut[/red]" in text
    assert text.rstrip().endswith("drill FAILED")


def test_the_tables_fit_a_terminal_of_eighty_columns() -> None:
    out = io.StringIO()
    rows = [row(turn, replica=replica) for turn in range(1, 51) for replica in ("replica-0", "replica-1")]
    show(report(*rows), Console(file=out, width=80))
    assert "…" not in out.getvalue()
    assert max(len(line) for line in out.getvalue().splitlines()[:60]) <= 80


def test_a_long_list_is_shortened() -> None:
    others = tuple(Failure(number, None, None, "no_seat", "none") for number in range(MAX_LISTED + 5))
    assert "and 5 more" in shown(report(others=others))


def test_a_stopped_drill_has_neither_passed_nor_failed() -> None:
    told = report(row(1), stopped=True)
    assert shown(told).rstrip().endswith("drill stopped before its end")
    assert '"passed": false' in json.dumps(as_json(told))


def test_the_file_is_json_without_infinities_and_without_what_was_said(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    check_writable(path)
    write(report(row(1, failed=True)), path)
    text = path.read_text()
    told = json.loads(text, parse_constant=pytest.fail)
    assert told["summary"]["totals"]["ttft_s"] == {"samples": 1, "p50": None, "p95": None}
    assert told["summary"]["by_turn"]["1"]["failed"] == 1
    assert told["turns"][0]["failure"]["code"] == "cut"
    assert told["drill"]["seed"] == 5
    assert "never written" not in text


def test_a_file_that_cannot_be_written_is_told_before_the_drill(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="cannot be written"):
        check_writable(tmp_path / "missing" / "out.json")
    with pytest.raises(CommandFailed, match="cannot be written"):
        write(report(), tmp_path)
