"""The folders of one stack below its data folder, and the lock that lets one `up` at a time use them."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.local.errors import AlreadyRunning, LocalStackError


@dataclass(frozen=True, slots=True)
class Places:
    data: Path

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def run(self) -> Path:
        return self.data / "run"

    @property
    def redis(self) -> Path:
        return self.data / "redis"

    @property
    def postgres(self) -> Path:
        return self.data / "postgres"

    @property
    def fleet(self) -> Path:
        """What runs of the replicas that come and go with the calendar, and their logs."""
        return self.data / "fleet"

    @property
    def ready(self) -> Path:
        return self.data / "ready.json"

    @property
    def keys(self) -> Path:
        return self.data / "keys.json"

    @property
    def temporary(self) -> Path:
        """The note that says where the run's temporary folder is."""
        return self.run / "temporary"

    @property
    def pids(self) -> Path:
        return self.run / "pids.json"


def made(data: Path) -> Places:
    places = Places(data.resolve())
    try:
        for folder in (places.data, places.logs, places.run):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        # Not Path.is_dir(), which raises where a folder above may not be entered.
        done = "written" if os.path.isdir(places.data) else "made"
        raise LocalStackError(
            f"the data folder {places.data} cannot be {done}: {error.strerror}", hint="name another one with --data"
        ) from error
    if not os.access(places.data, os.W_OK | os.X_OK):
        raise LocalStackError(f"the data folder {places.data} cannot be written", hint="name another one with --data")
    return places


@contextmanager
def owned(places: Places) -> Iterator[None]:
    """Hold the data folder; the lock ends with this process, however it ends."""
    with (places.run / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _taken(places) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _taken(places: Places) -> AlreadyRunning:
    pid = (places.run / "lock").read_text().strip()
    try:
        address = f"at {json.loads(places.ready.read_text())['base_url']}"
    except (OSError, ValueError, KeyError, TypeError):
        address = "(it is still starting)"
    return AlreadyRunning(
        f"already running as pid {pid} {address}",
        hint=f"stop it with `kill {pid}`, or name another folder with --data",
    )
