"""The replicas that a calendar has had started on this machine, for whoever is to leave none behind."""

from collections.abc import Sequence
from pathlib import Path

from router.fleet.adapters.processes.ending import clear


def end_replicas(folder: Path, *, within_s: float) -> Sequence[str]:
    """Nobody may look after them any more; returns their names. Raises `OSError`."""
    return clear(folder, within_s=within_s)
