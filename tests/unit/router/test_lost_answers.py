"""Whose whole answers are given up, and when."""

import asyncio

from typing_extensions import override

from router.domain.fleet import Health, Replica, ReplicaId
from router.lost_answers import LostAnswers
from router.settings import RouterSettings
from tests.support.eventually import eventually
from tests.support.fake_engine import FakeEngine
from tests.support.router_house import A, FakeFleet, three_replicas


class Engine(FakeEngine):
    """Remembers what was given up at it."""

    def __init__(self) -> None:
        super().__init__()
        self.given_up: list[tuple[ReplicaId, float]] = []

    @override
    def give_up(self, replica: Replica, *, waited_s: float) -> None:
        self.given_up.append((replica.id, waited_s))


class Lost:
    def __init__(self, *, lost_after_s: float = 5.0) -> None:
        self.now = 100.0
        self.fleet = FakeFleet(three_replicas())
        self.engine = Engine()
        settings = RouterSettings(lost_after_s=lost_after_s)
        self.answers = LostAnswers(fleet=self.fleet, engine=self.engine, settings=settings, clock=lambda: self.now)

    def looks_at(self, now: float) -> list[tuple[ReplicaId, float]]:
        self.now = now
        self.engine.given_up.clear()
        self.answers.look()
        return self.engine.given_up


def test_a_replica_that_stays_down_is_given_up_as_long_as_it_does() -> None:
    lost = Lost()
    lost.looks_at(100.0)
    lost.fleet.change(A, health=Health.DOWN)
    assert lost.looks_at(101.0) == lost.looks_at(105.0) == []
    assert lost.looks_at(106.0) == lost.looks_at(107.0) == [(A, 5.0)]
    lost.fleet.change(A, health=Health.READY)
    assert lost.looks_at(108.0) == []


async def test_it_looks_again_and_again() -> None:
    lost = Lost(lost_after_s=0.01)
    lost.fleet.change(A, health=Health.DOWN)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(lost.answers.run())
        await eventually(lambda: bool(lost.answers._since))
        lost.now += 1
        await eventually(lambda: (A, 0.01) in lost.engine.given_up)
        running.cancel()
