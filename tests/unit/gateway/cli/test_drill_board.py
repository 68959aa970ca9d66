from gateway.cli.drill_board import Board, Stage
from gateway.cli.drill_summary import Failure, TurnRow


def test_a_board_tells_of_rows_and_failures_at_once_and_keeps_them() -> None:
    rows: list[TurnRow] = []
    failures: list[Failure] = []
    board = Board(trainees=2, on_row=rows.append, on_failure=failures.append)
    bad = Failure(2, "s", 1, "cut", "was cut")
    row = TurnRow(2, "s", 1, 0.0, 0.0, failure=bad)
    board.add(row)
    board.fail(bad)
    assert rows == board.rows == [row]
    assert failures == board.failures == [bad]


def test_a_standing_keeps_what_is_not_told_anew() -> None:
    board = Board(trainees=1)
    board.stage(1, Stage.THINKING, session="s")
    board.stage(1, Stage.WAITING, turn=2)
    board.add(TurnRow(1, "s", 2, 0.0, 0.0, failure=Failure(1, "s", 2, "cut", "was cut")))
    board.stage(1, Stage.CLOSED)
    (standing,) = board.standings()
    assert (standing.stage, standing.session, standing.turn, standing.failed) == (Stage.CLOSED, "s", 2, 1)
    assert standing.last is board.rows[0]
