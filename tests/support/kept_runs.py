"""Folders of runs as a conductor leaves them, without playing anything."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadtests.domain.drill import Drill
from loadtests.domain.figures import Spread
from loadtests.domain.figuring import figures_of
from loadtests.domain.rows import Row
from loadtests.domain.targets import DEFAULT, Targets
from loadtests.domain.verdict import judge
from loadtests.ledger.entry import keep
from loadtests.run_files import write_object
from loadtests.run_folder import RunFolder
from tests.support.crowd_rows import Crowd, crowd_rows

MACHINE = {"kernel": "Linux 6", "cpu": "a CPU", "cpus": 2, "memory_mb": 8000}


def kept_run(
    path: Path,
    *,
    bell_at: str = "2026-12-01T10:00:00.000+00:00",
    drill: Drill | None = None,
    rows: Sequence[Row] | None = None,
    targets: Targets = DEFAULT,
    **facts: Any,
) -> RunFolder:
    """With figures, a verdict and its entry; without `rows`, a class of forty that is always the same."""
    folder, played = RunFolder(path), drill or Drill()
    told = crowd_rows(Crowd(seed=1)) if rows is None else rows
    path.mkdir(parents=True)
    write_object(folder.drill, played.as_json())
    usual = {
        "bell_at": bell_at,
        "machine": MACHINE,
        "targets": targets.as_json(),
        "code": {"revision": "a" * 40},
        "incomplete": None,
    }
    write_object(folder.facts, {**usual, **facts})
    folder.rows_of(0).write_text("".join(f"{row.as_json()}\n" for row in told))
    figures = replace(
        figures_of(told, drill=played, targets=targets.limits), client_lag=Spread(count=1, p99=0.001), audited=1
    )
    write_object(folder.figures, figures.as_json())
    write_object(folder.verdict, judge(figures, targets, drill=played).as_json())
    keep(folder)
    return folder
