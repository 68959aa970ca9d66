"""How a drill goes is read from its rows while they are written."""

from pathlib import Path

from loadtests.conduct.progress import Progress
from loadtests.domain.rows import Kind, Row
from loadtests.run_folder import RunFolder


def row(kind: Kind = Kind.TURN, *, ttft: float | None = None, failure: str | None = None) -> str:
    first = None if ttft is None else 1.0 + ttft
    made = Row(
        kind=kind,
        worker=0,
        trainee=0,
        session="s",
        planned_s=1.0,
        started_s=1.0,
        first_s=first,
        ended_s=9.0,
        failure=failure,
    )
    return made.as_json() + "\n"


def test_only_what_is_new_and_whole_is_counted(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    at = -7.0
    progress = Progress(folder, planned=6, clock=lambda: at)
    assert progress.follow() == 0
    assert progress.told() == "7 s to the bell, 0 of 6 turns, 0 failed"
    at = 12.0
    late = row(ttft=3.0)
    folder.rows_of(0).write_text(row(Kind.OPEN) + row(ttft=0.5) + late[:30])
    folder.rows_of(1).write_text(row(Kind.OPEN) + row(ttft=0.25))
    assert progress.follow() == 4
    assert progress.told() == "12 s, 2 of 6 turns, 2 in session, first text p95 0.50 s, 0 failed"
    with folder.rows_of(0).open("a") as more:
        more.write(late[30:] + row(Kind.CLOSE) + row(failure="timeout"))
    assert progress.follow() == 3
    assert progress.turns == 4
    assert progress.told() == "12 s, 4 of 6 turns, 1 in session, first text p95 3.00 s, 1 failed (1 timeout)"


def test_its_percentile_is_that_of_the_figures(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    progress = Progress(folder, planned=20, clock=lambda: 1.0)
    folder.rows_of(0).write_text("".join(row(ttft=float(late)) for late in range(1, 21)))
    progress.follow()
    assert "first text p95 19.00 s" in progress.told()


def test_what_had_to_be_refused_is_no_turn_but_told(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    progress = Progress(folder, planned=3, clock=lambda: 1.0)
    folder.rows_of(0).write_text(row() + row() + row(Kind.HOSTILE) + row(Kind.HOSTILE, failure="let_in"))
    progress.follow()
    assert progress.told() == "1 s, 2 of 3 turns, 1 refused as they had to be, 1 failed (1 let_in)"


def test_times_are_those_since_the_line_before(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    progress = Progress(folder, planned=1, clock=lambda: 1.0)
    folder.rows_of(0).write_text(row(ttft=0.5))
    progress.follow()
    assert "p95" in progress.told()
    assert "p95" not in progress.told()
