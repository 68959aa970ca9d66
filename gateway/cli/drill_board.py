"""Where every trainee of a running drill is, and the raw rows so far."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from gateway.cli.drill_summary import Failure, TurnRow


class Stage(StrEnum):
    STARTING = "starting"
    THINKING = "thinking"
    WAITING = "waiting"
    HEARING = "hearing"
    CHECKING = "checking"
    CLOSED = "closed"
    STOPPED = "stopped"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Standing:
    """One trainee now."""

    trainee: int
    stage: Stage = Stage.STARTING
    session: str | None = None
    turn: int = 0
    failed: int = 0
    last: TurnRow | None = None


class Board:
    """Written by the trainees, read by whoever shows or counts; `on_row` and `on_failure` are told of news at once."""

    def __init__(
        self,
        *,
        trainees: int,
        on_row: Callable[[TurnRow], None] = lambda _row: None,
        on_failure: Callable[[Failure], None] = lambda _failure: None,
    ) -> None:
        self._standings = {trainee: Standing(trainee) for trainee in range(1, trainees + 1)}
        self._on_row = on_row
        self._on_failure = on_failure
        self.rows: list[TurnRow] = []
        self.failures: list[Failure] = []
        """Those that belong to no row."""

    def standings(self) -> list[Standing]:
        return list(self._standings.values())

    def stage(self, trainee: int, stage: Stage, *, session: str | None = None, turn: int | None = None) -> None:
        """Session and turn stay as they are where they are not given."""
        before = self._standings[trainee]
        self._standings[trainee] = replace(
            before,
            stage=stage,
            session=before.session if session is None else session,
            turn=before.turn if turn is None else turn,
        )

    def add(self, row: TurnRow) -> None:
        before = self._standings[row.trainee]
        self._standings[row.trainee] = replace(before, last=row, failed=before.failed + (not row.succeeded))
        self.rows.append(row)
        self._on_row(row)

    def fail(self, failure: Failure) -> None:
        self.failures.append(failure)
        self._on_failure(failure)
