"""Which runs were accepted as what others are held against: by suite, drill, its digest, and the machine.

One small file in the ledger's folder, written whole or not at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadtests.run_files import RunDamaged, read_object, write_object

_FILE = "baselines.json"


@dataclass(frozen=True, slots=True)
class Place:
    """What must be equal before a run may be held against another: the same suite, drill and machine."""

    suite: str
    name: str
    drill: str
    machine: str

    @property
    def key(self) -> str:
        return " ".join((self.suite, self.name, self.drill, self.machine or "unknown"))


class Baselines:
    """Raises `RunDamaged` when its file cannot be understood, rather than begin anew over it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def runs_of(self, place: Place) -> tuple[str, ...]:
        """Those that were accepted; none: there is no baseline yet."""
        return self._all().get(place.key, ())

    def accept(self, accepted: Mapping[Place, Sequence[str]]) -> None:
        """In place of what was accepted before."""
        if not accepted:
            return
        places = {**self._all(), **{place.key: tuple(runs) for place, runs in accepted.items()}}
        self._folder.mkdir(parents=True, exist_ok=True)
        write_object(self._folder / _FILE, {key: list(runs) for key, runs in sorted(places.items())})

    def runs(self) -> frozenset[str]:
        """All of them, which no clearing up may take away."""
        return frozenset(run for runs in self._all().values() for run in runs)

    def _all(self) -> dict[str, tuple[str, ...]]:
        file = self._folder / _FILE
        if not file.exists():
            return {}
        told = read_object(file)
        if not all(_are_names(runs) for runs in told.values()):
            raise RunDamaged(f"{file} is not a list of baselines")
        return {key: tuple(_names(runs)) for key, runs in told.items()}


def _are_names(runs: object) -> bool:
    return isinstance(runs, list) and all(isinstance(each, str) for each in runs)


def _names(runs: object) -> Iterable[str]:
    return (str(each) for each in runs) if isinstance(runs, list) else ()
