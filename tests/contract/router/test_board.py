"""The promise of `FleetBoard`, on memory and on a real Redis."""

import asyncio
import time
from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from router.adapters.memory_board import MemoryBoard
from router.adapters.redis_board import RedisBoard
from router.domain import board_limits
from router.domain.board import Board, RouterId
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.errors import BoardUnavailable
from router.ports import FleetBoard

pytestmark = pytest.mark.redis

A, B = ReplicaId("a"), ReplicaId("副本 b")
ONE, TWO = RouterId("router-1"), RouterId("router-2")
SPEC = ReplicaSpec(A, "http://a:8000", frozenset({"m", "模型"}))


@pytest.fixture(params=["memory", "redis"])
def board(request: pytest.FixtureRequest, redis_client: Redis) -> FleetBoard:
    return MemoryBoard() if request.param == "memory" else RedisBoard(client=redis_client, timeout_s=5.0)


async def test_an_empty_board_has_nothing_but_the_time(board: FleetBoard) -> None:
    seen = await board.read()
    assert abs(seen.now - time.time()) < 5
    assert seen == Board(now=seen.now)


async def test_an_added_replica_is_read_as_it_was_given(board: FleetBoard) -> None:
    await board.add(SPEC)
    await board.add(ReplicaSpec(B, "http://b"))
    assert set((await board.read()).added) == {SPEC, ReplicaSpec(B, "http://b")}
    changed = ReplicaSpec(A, "http://elsewhere")
    await board.add(changed)
    assert changed in (await board.read()).added


async def test_adding_ends_a_removal_and_a_drain_of_the_same_id(board: FleetBoard) -> None:
    await board.remove(A)
    await board.drain(A, within_s=60)
    await board.drain(B, within_s=60)
    await board.add(SPEC)
    seen = await board.read()
    assert (seen.removed, set(seen.drains)) == (frozenset(), {B})


async def test_removing_ends_an_addition_and_a_drain(board: FleetBoard) -> None:
    await board.add(SPEC)
    await board.drain(A, within_s=60)
    await board.remove(A)
    await board.remove(A)
    seen = await board.read()
    assert (seen.added, seen.removed, seen.drains) == ((), frozenset({A}), {})


async def test_what_was_ordered_of_a_replica_can_be_undone_without_a_trace(board: FleetBoard) -> None:
    before = await board.read()
    await board.add(SPEC)
    await board.drain(A, within_s=60)
    await board.remove(B)
    for replica in (A, B, A):
        await board.remove(replica, keeps_out=False)
    seen = await board.read()
    assert seen == Board(now=seen.now) == Board(now=seen.now, added=before.added)


async def test_replicas_may_come_and_go_without_end(board: FleetBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_limits, "MOST_ENTRIES", 1)
    monkeypatch.setattr("router.adapters.redis_board.MOST_ENTRIES", 1)
    for number in range(5):
        await board.add(ReplicaSpec(ReplicaId(f"start-{number}"), "http://a"))
        await board.drain(ReplicaId(f"start-{number}"), within_s=60)
        await board.remove(ReplicaId(f"start-{number}"), keeps_out=False)
    await board.remove(B)
    await board.remove(ReplicaId("start-9"), keeps_out=False)
    assert (await board.read()).removed == {B}


async def test_a_second_order_changes_the_deadline_of_a_drain_only(board: FleetBoard) -> None:
    await board.drain(A, within_s=60)
    first = (await board.read()).drains[A]
    assert first.deadline - first.since == pytest.approx(60, abs=0.01)
    await board.drain(A, within_s=600)
    second = (await board.read()).drains[A]
    assert second.since == first.since
    assert second.deadline - first.deadline == pytest.approx(540, abs=5)


async def test_a_drain_can_be_undone_and_undoing_twice_is_nothing(board: FleetBoard) -> None:
    await board.drain(A, within_s=60)
    await board.drain(A, within_s=None)
    await board.drain(A, within_s=None)
    assert (await board.read()).drains == {}


async def test_the_last_report_of_a_router_counts(board: FleetBoard) -> None:
    await board.report(ONE, {})
    await board.report(TWO, {A: 3, B: 0})
    await board.report(ONE, {A: 1})
    seen = await board.read()
    assert {router: said.in_flight for router, said in seen.routers.items()} == {ONE: {A: 1}, TWO: {A: 3, B: 0}}
    assert all(seen.now - 5 < said.at <= seen.now for said in seen.routers.values())


async def test_a_router_that_leaves_is_no_longer_there(board: FleetBoard) -> None:
    await board.report(ONE, {A: 1})
    await board.report(ONE, None)
    await board.report(ONE, None)
    assert (await board.read()).routers == {}


async def test_a_router_that_says_nothing_is_taken_for_dead(board: FleetBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("memory_board", "redis_board"):
        monkeypatch.setattr(f"router.adapters.{module}.DEAD_AFTER_S", 0.3)
    await board.report(ONE, {A: 1})
    deadline = time.monotonic() + 5
    while ONE in (await board.read()).routers:
        assert time.monotonic() < deadline
        await board.report(TWO, {})
        await asyncio.sleep(0.05)
    assert set((await board.read()).routers) == {TWO}


async def test_two_operators_at_once_leave_one_of_their_orders(board: FleetBoard) -> None:
    for _ in range(20):
        await asyncio.gather(board.add(SPEC), board.remove(A), board.drain(A, within_s=5))
        seen = await board.read()
        assert (A in seen.removed) != (SPEC in seen.added)


async def test_a_full_board_takes_no_more_but_still_changes(board: FleetBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_limits, "MOST_ENTRIES", 1)
    monkeypatch.setattr("router.adapters.redis_board.MOST_ENTRIES", 1)
    await board.drain(B, within_s=1)
    await board.remove(B)
    await board.add(SPEC)
    await board.drain(B, within_s=1)
    await board.report(ONE, {})
    orders: list[Callable[[], object]] = [
        lambda: board.add(ReplicaSpec(B, "http://b")),
        lambda: board.remove(ReplicaId("c")),
        lambda: board.drain(A, within_s=1),
        lambda: board.report(TWO, {}),
    ]
    for order in orders:
        with pytest.raises(BoardUnavailable, match="full"):
            await order()  # type: ignore[misc]
    await board.add(SPEC)
    await board.remove(B)
    await board.drain(B, within_s=2)
    await board.report(ONE, {A: 1})


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb", "a\0b"])
async def test_names_that_do_not_fit_are_refused(board: FleetBoard, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        await board.remove(ReplicaId(name))
    with pytest.raises(ValueError, match="name"):
        await board.remove(ReplicaId(name), keeps_out=False)
    with pytest.raises(ValueError, match="name"):
        await board.drain(ReplicaId(name), within_s=1)
    with pytest.raises(ValueError, match="name"):
        await board.report(RouterId(name), {})
    with pytest.raises(ValueError, match="name"):
        await board.report(ONE, {ReplicaId(name): 1})
    with pytest.raises(ValueError, match="name"):
        await board.add(ReplicaSpec(ReplicaId(name), "http://a"))
