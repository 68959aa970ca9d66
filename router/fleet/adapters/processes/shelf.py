"""The folder in which it is kept what was ordered and what runs; one host at a time works on it."""

import fcntl
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import structlog
from structlog.typing import FilteringBoundLogger

from router.domain.fleet import ReplicaId
from router.fleet.adapters.processes.replica_shim import LOCK, RUN, Process, Run, write

_ORDER = "order.json"
_LOGS_KEPT = 50
_POLL_S = 0.02
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """What a host wrote down of a replica; `slot` None: there was none free yet."""

    id: ReplicaId
    since: float
    slot: str | None = None
    stopping: float | None = None
    """Since when it is to be gone."""


@dataclass(frozen=True, slots=True)
class Shelved:
    order: Order
    run: Run | None
    """None: no shim has written down that it runs."""


class Shelf:
    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._said: frozenset[str] = frozenset()

    @contextmanager
    def locked(self, *, within_s: float) -> Iterator[None]:
        """Raises `TimeoutError` when another host does not leave it in time, or the `OSError` of the folder."""
        for folder in (self.orders, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + within_s
        with (self._folder / "lock").open("a") as lock:
            while not _is_ours(lock.fileno()):
                if time.monotonic() >= deadline:
                    raise TimeoutError(f"another process holds {self._folder / 'lock'}")
                time.sleep(_POLL_S)
            yield

    @property
    def orders(self) -> Path:
        return self._folder / "replicas"

    @property
    def logs(self) -> Path:
        return self._folder / "logs"

    def place(self, replica: ReplicaId) -> Path:
        return self.orders / replica

    def log(self, replica: ReplicaId) -> Path:
        return self.logs / f"{replica}.log"

    def read(self) -> Sequence[Shelved]:
        """The oldest first. What cannot be read is left out, and said once."""
        shelved, unreadable = [], set()
        for place in self.orders.iterdir():
            try:
                found = self._shelved(place)
            except _UNREADABLE as error:
                unreadable.add(place.name)
                if place.name not in self._said:
                    _log.warning("what is kept of a replica cannot be read", folder=str(place), detail=str(error))
            else:
                shelved += [] if found is None else [found]
        self._said = frozenset(unreadable)
        return sorted(shelved, key=lambda one: (one.order.since, one.order.id))

    def one(self, replica: ReplicaId) -> Shelved | None:
        """Raises `OSError` where what is kept of a living one cannot be read; of a dead one it is thrown away."""
        place = self.place(replica)
        try:
            return self._shelved(place)
        except _UNREADABLE as error:
            with (place / LOCK).open("a") as lock:
                if not _is_ours(lock.fileno()):
                    raise OSError(f"what is kept in {place} cannot be read: {error}") from error
            self.remove(replica)
            return None

    def put(self, order: Order) -> None:
        place = self.place(order.id)
        place.mkdir(exist_ok=True)
        write(place / _ORDER, asdict(order))

    def remove(self, replica: ReplicaId) -> None:
        """Its log stays for a while."""
        shutil.rmtree(self.place(replica))
        known = {f"{place.name}.log" for place in self.orders.iterdir()}
        old = sorted((log for log in self.logs.iterdir() if log.name not in known), key=lambda log: log.stat().st_mtime)
        for log in old[:-_LOGS_KEPT]:
            log.unlink()

    @staticmethod
    def _shelved(place: Path) -> Shelved | None:
        """None: nothing was ordered."""
        try:
            run = _run(json.loads((place / RUN).read_text()))
        except FileNotFoundError:
            run = None
        try:
            told = json.loads((place / _ORDER).read_text())
            return Shelved(Order(ReplicaId(place.name), float(told["since"]), told["slot"], told["stopping"]), run)
        except FileNotFoundError:
            return None
        except _UNREADABLE:
            if run is None:
                raise
            return Shelved(Order(ReplicaId(place.name), place.stat().st_mtime, run.slot), run)


def _is_ours(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _run(told: dict[str, Any]) -> Run:
    family = tuple(Process(int(pid), int(started)) for pid, started in told.pop("family"))
    pid, started = told.pop("shim")
    return Run(**told, shim=Process(int(pid), int(started)), family=family)
