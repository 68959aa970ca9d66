"""The board by its clock; the rest of the promise is in the contract suite."""

from router.adapters.memory_board import MemoryBoard
from router.domain.board import Drain, RouterId
from router.domain.fleet import ReplicaId

A = ReplicaId("a")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_a_router_lives_for_five_seconds_after_its_report() -> None:
    clock = Clock()
    board = MemoryBoard(clock=clock)
    await board.report(RouterId("r"), {A: 1})
    clock.now += 4.9
    assert set((await board.read()).routers) == {"r"}
    clock.now += 0.1
    assert (await board.read()).routers == {}


async def test_a_drain_begins_when_it_is_first_ordered() -> None:
    clock = Clock()
    board = MemoryBoard(clock=clock)
    await board.drain(A, within_s=60)
    clock.now += 10
    await board.drain(A, within_s=5)
    seen = await board.read()
    assert (seen.now, seen.drains) == (110.0, {A: Drain(A, since=100.0, deadline=115.0)})


async def test_a_board_that_was_read_does_not_change() -> None:
    board = MemoryBoard()
    before = await board.read()
    await board.drain(A, within_s=5)
    await board.report(RouterId("r"), {})
    assert (before.drains, before.routers) == ({}, {})
