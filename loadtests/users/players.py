"""The trainees of one Locust process: each takes the next part and plays it, and together they keep one book."""

from collections.abc import Callable
from typing import Protocol

import gevent

from loadtests.domain.part import Part
from loadtests.users.book import Book, watch_lag
from loadtests.users.casting_desk import Given
from loadtests.users.clock import DrillClock
from loadtests.users.orders import Orders
from loadtests.users.stage import Stage
from loadtests.users.trainee import play


class Desk(Protocol):
    """Where parts are had."""

    def next(self) -> Given | None: ...

    def over(self, part: int) -> None: ...


class Players:
    def __init__(self, orders: Orders, parts: tuple[Part, ...], *, desk: Desk, worker: Callable[[], int]) -> None:
        self._orders = orders
        self._parts = parts
        self._desk = desk
        self._worker = worker
        self._stage: Stage | None = None
        self._lag: gevent.Greenlet | None = None

    def play_next(self) -> bool:
        """Play one part to its end; False: there is none left."""
        given = self._desk.next()
        if given is None:
            return False
        stage = self._stage or self._opened(given.bell_at)
        try:
            play(stage, self._parts[given.part])
        except Exception:  # not of a trainee that is ended from outside: its part is not over
            self._desk.over(given.part)
            raise
        self._desk.over(given.part)
        return True

    def trouble(self, error: BaseException) -> None:
        """A trainee fell over: not by what it was answered, but by a mistake of the client."""
        if self._stage is not None:
            self._stage.book.trouble(type(error).__name__)

    def close(self) -> None:
        if self._lag is not None:
            self._lag.kill()
        if self._stage is not None:
            self._stage.book.close()

    def _opened(self, bell_at: float) -> Stage:
        """The first part tells when the bell is; a worker knows its number by then."""
        orders, worker = self._orders, self._worker()
        clock = DrillClock(bell_at=bell_at, speed_up=orders.drill.speed_up)
        book = Book(orders.folder, worker=worker)
        self._lag = gevent.spawn(watch_lag, orders.folder, clock, worker=worker)
        self._stage = Stage(drill=orders.drill, aim=orders.aim, clock=clock, book=book)
        return self._stage
