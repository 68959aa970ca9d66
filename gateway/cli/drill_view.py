"""A running drill on the terminal: a live table, or one line a turn where there is no terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table

from gateway.cli.drill_board import Board, Standing
from gateway.cli.drill_summary import Failure, TurnRow

REFRESH_PER_S = 4
WIDTH_WITHOUT_TERMINAL = 160


def console() -> Console:
    """Where results go; a pipe has no width of its own, and nothing in it should be cut off.

    Names, reasons and lines of logs stand in what is shown, and are words: no markup, no pictures.
    """
    found = Console(highlight=False, markup=False, emoji=False)
    if not found.is_terminal:
        found.width = WIDTH_WITHOUT_TERMINAL
    return found


@contextmanager
def watched(screen: Console, *, trainees: int, turns: int) -> Iterator[Board]:
    """A board that is shown while the block runs."""
    if not screen.is_terminal:
        yield Board(
            trainees=trainees,
            on_row=lambda row: screen.print(_line(row), soft_wrap=True, markup=False),
            on_failure=lambda failure: screen.print(failure_line(failure), soft_wrap=True, markup=False),
        )
        return
    board = Board(trainees=trainees)
    with Live(console=screen, get_renderable=lambda: _table(board, turns), refresh_per_second=REFRESH_PER_S):
        yield board


def seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return "never" if value == float("inf") else f"{value:.2f} s"


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def failure_line(failure: Failure) -> str:
    turn = f" turn {failure.turn}" if failure.turn is not None else ""
    return f"trainee {failure.trainee}{turn}: failed: {failure.code}: {failure.message}"


def _line(row: TurnRow) -> str:
    if row.failure is not None:
        return failure_line(row.failure)
    again = f", sent again {row.retries} times" if row.retries else ""
    return (
        f"trainee {row.trainee} turn {row.turn}: first text {seconds(row.ttft_s)}, total {seconds(row.total_s)}, "
        f"{share(row.usage.cached_tokens, row.usage.prompt_tokens)} of {row.usage.prompt_tokens} tokens cached, "
        f"{row.replica or 'no replica named'} ({row.pin or '-'}){again}"
    )


def _table(board: Board, turns: int) -> RenderableType:
    standings = board.standings()
    failed = sum(standing.failed for standing in standings) + len(board.failures)
    table = Table(title=f"{len(board.rows)} of {len(standings) * turns} turns, {failed} failures", title_justify="left")
    for heading in ("trainee", "session", "turn", "state", "replica", "TTFT", "cached", "failed"):
        table.add_column(heading, no_wrap=True)
    for standing in standings:
        table.add_row(*_cells(standing, turns))
    return table


def _cells(standing: Standing, turns: int) -> tuple[str, ...]:
    last = standing.last
    return (
        str(standing.trainee),
        (standing.session or "-")[:8],
        f"{standing.turn}/{turns}",
        standing.stage.value,
        (last.replica if last is not None else None) or "-",
        seconds(last.ttft_s) if last is not None else "-",
        share(last.usage.cached_tokens, last.usage.prompt_tokens) if last is not None else "-",
        str(standing.failed) if standing.failed else "",
    )
