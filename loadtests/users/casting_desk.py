"""Hands out the parts of a timetable, so that however many workers there are each part is played exactly once.

Each trainee asks for a part when Locust has made it. A process that plays alone answers itself; where there are
workers, the master answers them by message, with the instant of the bell, and takes note of whose part is over.
"""

from dataclasses import dataclass
from uuid import uuid4

from gevent.event import AsyncResult
from locust.env import Environment
from locust.rpc.protocol import Message
from locust.runners import STATE_MISSING, MasterRunner, WorkerRunner

from loadtests.domain.casting import Casting

_WANTED, _GIVEN, _OVER = "part_wanted", "part_given", "part_over"
_ANSWER_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Given:
    part: int
    bell_at: float


class OwnDesk:
    """Of a process that plays alone."""

    def __init__(self, casting: Casting, *, bell_at: float) -> None:
        self._casting = casting
        self._bell_at = bell_at

    def next(self) -> Given | None:
        part = self._casting.hand_out("")
        return None if part is None else Given(part, self._bell_at)

    def over(self, part: int) -> None:
        self._casting.over(part)


class MasterDesk:
    """Answers the workers, and knows of those that are gone."""

    def __init__(self, casting: Casting, runner: MasterRunner, *, bell_at: float) -> None:
        self._casting = casting
        self._runner = runner
        self._bell_at = bell_at
        self._workers: set[str] = set()
        self.lost: set[str] = set()
        runner.register_message(_WANTED, self._wanted)
        runner.register_message(_OVER, self._over)

    def look(self) -> None:
        """Take note of workers that are gone, whether or not they had a part yet."""
        clients = self._runner.clients.all
        self._workers |= {client.id for client in clients}
        there = {client.id for client in clients if client.state != STATE_MISSING}
        for gone in self._workers - there - self.lost:
            self.lost.add(gone)
            self._casting.lose(gone)

    def _wanted(self, environment: Environment, msg: Message, **_: object) -> None:  # noqa: ARG002  Locust's signature
        part = self._casting.hand_out(msg.node_id)
        answer = {"ticket": msg.data["ticket"], "part": part, "bell_at": self._bell_at}
        self._runner.send_message(_GIVEN, answer, client_id=msg.node_id)

    def _over(self, environment: Environment, msg: Message, **_: object) -> None:  # noqa: ARG002  Locust's signature
        self._casting.over(int(msg.data["part"]))


class WorkerDesk:
    """Asks the master."""

    def __init__(self, runner: WorkerRunner) -> None:
        self._runner = runner
        self._waiting: dict[str, AsyncResult] = {}
        runner.register_message(_GIVEN, self._given)

    def next(self) -> Given | None:
        ticket = uuid4().hex
        answer = self._waiting[ticket] = AsyncResult()
        self._runner.send_message(_WANTED, {"ticket": ticket})
        told = answer.get(timeout=_ANSWER_WITHIN_S)
        return None if told["part"] is None else Given(int(told["part"]), float(told["bell_at"]))

    def over(self, part: int) -> None:
        self._runner.send_message(_OVER, {"part": part})

    def _given(self, environment: Environment, msg: Message, **_: object) -> None:  # noqa: ARG002  Locust's signature
        self._waiting.pop(msg.data["ticket"]).set(msg.data)
