"""A stage for trainees of a load drill, without Locust."""

import time
from dataclasses import replace
from pathlib import Path

from loadtests.domain.drill import Drill
from loadtests.domain.part import Ask
from loadtests.domain.rows import Row
from loadtests.run_files import read_rows
from loadtests.run_folder import RunFolder
from loadtests.users.aim import Aim
from loadtests.users.book import Book
from loadtests.users.clock import DrillClock
from loadtests.users.stage import Stage
from loadtests.users.taken import Place


def stage(folder: Path, *urls: str, drill: Drill | None = None, timeout_s: float = 10.0) -> Stage:
    """The bell has just rung."""
    folder.mkdir(exist_ok=True)
    return Stage(
        drill=replace(drill or Drill(), timeout_s=timeout_s),
        aim=Aim(base_urls=urls, keys=("key-0", "key-1"), scenario="a-scenario", model="a-model"),
        clock=DrillClock(bell_at=time.time(), speed_up=1.0),
        book=Book(RunFolder(folder), worker=0),
    )


def place(ask: Ask | None = None, *, turn: int = 1, trainee: int = 0) -> Place:
    return Place(worker=0, trainee=trainee, session="s1", turn=turn, ask=ask or Ask(at_s=0.0), free_s=0.0)


def rows_in(folder: Path) -> list[Row]:
    return read_rows(RunFolder(folder))
