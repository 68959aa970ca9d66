"""Which kept connection is taken, and which ones go."""

import asyncio
import time
from dataclasses import dataclass, field

from router.adapters.upstream.connection import Connection
from router.adapters.upstream.idle import IdleConnections
from router.adapters.upstream.target import Origin
from tests.support.paper_transport import PaperTransport

HERE, THERE = Origin("a", 80, False), Origin("b", 80, False)


@dataclass
class World:
    idle: IdleConnections
    lost: list[Connection] = field(default_factory=list)

    def kept(self, origin: Origin = HERE) -> Connection:
        connection = Connection(origin=origin, on_free=self.idle.put, on_lost=self.forget)
        PaperTransport().carry(connection)
        self.idle.put(connection)
        return connection

    def forget(self, connection: Connection) -> None:
        self.idle.forget(connection)
        self.lost.append(connection)


async def test_the_last_one_used_is_taken_first() -> None:
    world = World(IdleConnections(idle_s=60))
    first, second, elsewhere = world.kept(), world.kept(), world.kept(THERE)
    assert len(world.idle) == 3
    assert [world.idle.take(HERE) for _ in range(3)] == [second, first, None]
    assert world.idle.take(THERE) is elsewhere
    world.idle.drop_all()


async def test_one_that_was_lost_is_not_taken() -> None:
    world = World(IdleConnections(idle_s=60))
    first, second, third = world.kept(), world.kept(), world.kept()
    second.abort()
    assert world.lost == [second]
    assert [world.idle.take(HERE) for _ in range(3)] == [third, first, None]
    world.idle.forget(second)
    world.idle.drop_all()


async def test_one_whose_loss_has_not_been_told_yet_is_not_taken() -> None:
    world = World(IdleConnections(idle_s=60))
    first, second = world.kept(), world.kept()
    transport = second._transport
    assert isinstance(transport, PaperTransport)
    transport.is_gone = True
    assert world.idle.take(HERE) is first
    world.idle.drop_all()


async def test_one_that_waited_too_long_is_cut_instead_of_taken() -> None:
    world = World(IdleConnections(idle_s=60))
    first, second = world.kept(), world.kept()
    first.idle_since -= 61
    second.idle_since -= 60.1
    assert world.idle.take(HERE) is None
    assert world.lost == [second]
    world.idle.drop_all()


async def test_all_go_in_time_though_nobody_asks() -> None:
    world = World(IdleConnections(idle_s=0.05))
    kept = [world.kept(), world.kept(THERE), world.kept()]
    await _until_lost(world, 3)
    assert set(world.lost) == set(kept)
    assert len(world.idle) == 0
    later = world.kept()
    await _until_lost(world, 4)
    assert world.lost[-1] is later


async def test_the_younger_ones_stay_when_the_old_ones_go() -> None:
    world = World(IdleConnections(idle_s=60))
    old, young = world.kept(), world.kept()
    old.idle_since -= 61
    world.idle._sweep()
    assert (world.lost, len(world.idle)) == ([old], 1)
    assert world.idle.take(HERE) is young
    world.idle.drop_all()


async def test_dropping_all_cuts_all() -> None:
    world = World(IdleConnections(idle_s=60))
    kept = [world.kept(), world.kept(THERE)]
    world.idle.drop_all()
    world.idle.drop_all()
    assert (world.lost, len(world.idle)) == (kept, 0)


async def _until_lost(world: World, count: int) -> None:
    deadline = time.monotonic() + 5
    while len(world.lost) < count:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
