"""Ends a drill when every part is over, or when a worker was lost, and says whether it came to its end."""

from collections import Counter
from typing import Protocol

import gevent
from locust.env import Environment

from loadtests.domain.casting import Casting
from loadtests.run_folder import RunFolder
from loadtests.users.book import write_trouble

_LOOK_EVERY_S = 0.2


class Workers(Protocol):
    lost: set[str]

    def look(self) -> None: ...


class Director:
    """`workers` is None for a process that plays alone."""

    def __init__(self, casting: Casting, *, workers: Workers | None) -> None:
        self._casting = casting
        self._workers = workers

    def follow(self, environment: Environment) -> None:
        """Until the drill is over; then end Locust. Nobody can go on with a part in its middle, so a run that has lost
        a worker is worth nothing any more."""
        while not (self._casting.is_through or self.lost):
            gevent.sleep(_LOOK_EVERY_S)
            if self._workers is not None:
                self._workers.look()
        if environment.runner is not None:
            environment.runner.quit()

    @property
    def lost(self) -> int:
        """Workers."""
        return len(self._workers.lost) if self._workers is not None else 0

    @property
    def is_whole(self) -> bool:
        return not self._casting.unplayed

    def close(self, folder: RunFolder) -> None:
        found = Counter({"lost_worker": self.lost, "unplayed": self._casting.unplayed})
        write_trouble(folder, "director", +found)
