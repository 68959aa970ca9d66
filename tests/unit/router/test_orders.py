"""Orders for the fleet: given, heard, acknowledged, seen through."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import pytest
from structlog.testing import capture_logs
from typing_extensions import override

from router.adapters.memory_board import MemoryBoard
from router.domain.board import Board, RouterId
from router.domain.drain import DrainProgress
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.domain.pin import PinnedLoad
from router.errors import BoardUnavailable, ReplicaInUse, ReplicaInvalid, ReplicaUnknown
from router.fleet_state import FleetState
from router.orders import Orders
from router.settings import RouterSettings
from tests.support.drain_house import Routers, sessions
from tests.support.eventually import eventually
from tests.support.router_house import REQUEST, A, B, C

R1, R2 = RouterId("r1"), RouterId("r2")
D = ReplicaId("d")


async def test_a_drain_is_acknowledged_by_each_router_once_it_gives_no_new_session_there() -> None:
    routers = Routers("r1", "r2")
    await routers.hear()
    begun = await routers.first.fleet_orders.drain(A, within_s=60.0)
    assert (begun.acknowledged, begun.missing, begun.may_stop) == ((), (R1, R2), False)
    await routers.houses[1].orders.take_round()
    so_far = await routers.first.fleet_orders.progress(A)
    assert so_far is not None
    assert (so_far.acknowledged, so_far.missing) == ((R2,), (R1,))
    await routers.houses[1].has_turns(sessions(9))
    assert await routers.left_at(A) == 0
    await routers.hear()
    ended = await routers.first.fleet_orders.progress(A)
    assert ended == DrainProgress(A, (R1, R2), (), 0, 0, 60.0, may_stop=True)


async def test_turns_that_run_there_are_told_until_they_end() -> None:
    routers = Routers("r1", "r2")
    async with routers.houses[1].router.turn(sessions(1)[0], REQUEST) as stream:
        await routers.first.fleet_orders.drain(stream.replica)
        await routers.hear()
        so_far = await routers.first.fleet_orders.progress(stream.replica)
        assert so_far is not None
        assert (so_far.in_flight, so_far.sessions_left, so_far.may_stop) == (1, 1, False)
        replica = stream.replica
    await routers.hear()
    ended = await routers.first.fleet_orders.progress(replica)
    assert ended is not None
    assert (ended.in_flight, ended.seconds_left) == (0, RouterSettings().drain_deadline_s)


async def test_a_router_that_dies_or_leaves_holds_nothing_up() -> None:
    routers = Routers("r1", "r2", "r3")
    await routers.hear()
    await routers.first.fleet_orders.drain(A)
    await routers.houses.pop().orders.leave()
    routers.houses.pop()  # dies
    for _ in range(6):
        await routers.hear(after_s=1.0)
    ended = await routers.first.fleet_orders.progress(A)
    assert ended is not None
    assert (ended.acknowledged, ended.missing, ended.may_stop) == ((R1,), (), True)


async def test_while_the_board_is_away_the_last_orders_go_on_and_it_is_said_once() -> None:
    routers = Routers("r1")
    await routers.first.fleet_orders.drain(A)
    await routers.hear()
    routers.board.broken = True
    with capture_logs() as logs:
        await routers.hear()
        await routers.hear()
        await routers.first.orders.leave()
        routers.board.broken = False
        await routers.hear()
        await routers.hear()
    drained = routers.first.fleet.current().get(A)
    assert drained is not None
    assert drained.is_draining
    assert (routers.first.orders.failures, len(logs)) == (2, 2)
    assert [entry["log_level"] for entry in logs] == ["warning", "info"]
    assert routers.first.orders.age_s < 60


async def test_the_board_is_read_over_and_over() -> None:
    routers = Routers("r1", settings=RouterSettings(board_interval_s=0.01))
    task = asyncio.ensure_future(routers.first.orders.run())
    await routers.first.fleet_orders.drain(A)
    await eventually(lambda: A in routers.first.orders.last.drains)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_the_list_tells_what_is_known_and_what_is_not() -> None:
    routers = Routers("r1")
    await routers.first.has_turns(sessions(3))
    await routers.first.fleet_orders.drain(B)
    await routers.hear()
    held = routers.first.book.reserve(A, 1)
    listed = await routers.first.fleet_orders.list()
    held.release()
    assert [status.replica.id for status in listed] == [A, B, C]
    assert [status.pinned for status in listed] == [PinnedLoad(1, 1)] * 3
    assert [status.in_flight for status in listed] == [1, 0, 0]
    assert [status.drain is not None for status in listed] == [False, True, False]
    routers.board.broken = routers.pins.broken = True
    listed = await routers.first.fleet_orders.list()
    assert [(status.pinned, status.drain) for status in listed] == [(None, None)] * 3


async def test_one_replica_can_be_asked_for() -> None:
    orders = Routers("r1").first.fleet_orders
    assert (await orders.get(A)).replica.id == A
    with pytest.raises(ReplicaUnknown):
        await orders.get(D)


async def test_a_replica_can_be_added_and_drained_before_this_router_has_heard_of_it() -> None:
    routers = Routers("r1")
    orders = routers.first.fleet_orders
    assert await orders.add("d", "http://d:8000/", ["m"]) == ReplicaSpec(D, "http://d:8000", frozenset({"m"}))
    assert (await routers.board.read()).added == (ReplicaSpec(D, "http://d:8000", frozenset({"m"})),)
    assert (await orders.drain(D)).replica == D
    with pytest.raises(ReplicaInvalid):
        await orders.add("d d", "http://d:8000")


async def test_the_id_of_a_listed_replica_is_not_given_to_another() -> None:
    routers = Routers("r1")
    orders, listed = routers.first.fleet_orders, routers.first.fleet.current().get(A)
    assert listed is not None
    with pytest.raises(ReplicaInvalid, match="has this id with another url"):
        await orders.add(A, "http://elsewhere:8000")
    await orders.remove(A, force=True)
    await orders.add(A, listed.url)  # which brings it back
    await orders.add(A, "http://elsewhere:8000")  # operators may move what they have added
    assert [spec.url for spec in (await routers.board.read()).added] == ["http://elsewhere:8000"]


async def test_a_replica_is_removed_only_when_its_drain_is_through_or_by_force() -> None:
    routers = Routers("r1")
    orders = routers.first.fleet_orders
    await routers.first.has_turns(sessions(3))
    with pytest.raises(ReplicaInUse) as never_drained:
        await orders.remove(A)
    assert never_drained.value.sessions_left is None
    await orders.drain(A)
    await routers.hear()
    with pytest.raises(ReplicaInUse) as caught:
        await orders.remove(A)
    assert (caught.value.replica, caught.value.sessions_left, caught.value.in_flight) == (A, 1, 0)
    async with routers.running():
        await routers.hear_until_empty(A)
    await orders.remove(A)
    await orders.remove(B, force=True)
    board = await routers.board.read()
    assert (board.removed, dict(board.drains)) == (frozenset({A, B}), {})
    with pytest.raises(ReplicaUnknown):
        await orders.progress(A)


async def test_a_drain_can_be_undone_and_undoing_nothing_is_nothing() -> None:
    routers = Routers("r1")
    orders = routers.first.fleet_orders
    await orders.drain(A)
    await orders.undo(A)
    await orders.undo(A)
    assert await orders.progress(A) is None
    for order in (orders.drain(D), orders.undo(D), orders.remove(D), orders.remove(D, force=True)):
        with pytest.raises(ReplicaUnknown):
            await order


async def test_a_second_drain_changes_the_deadline_only() -> None:
    routers = Routers("r1")
    orders = routers.first.fleet_orders
    await orders.drain(A, within_s=60.0)
    await routers.hear(after_s=10.0)
    changed = await orders.drain(A, within_s=5.0)
    assert (changed.acknowledged, changed.seconds_left) == ((R1,), 5.0)


async def test_waiting_for_a_drain_tells_each_step_and_its_end() -> None:
    routers = Routers("r1", settings=RouterSettings(board_interval_s=0.001))
    await routers.first.has_turns(sessions(30))
    await routers.first.fleet_orders.drain(A)
    steps: list[DrainProgress] = []
    async with routers.running():
        waiting = asyncio.ensure_future(routers.first.fleet_orders.wait_drained(A, told=steps.append))
        await routers.hear_until_empty(A)
        await routers.hear()
        ended = await waiting
    assert ended is not None
    assert ended.may_stop
    assert (steps[0].may_stop, steps[-1]) == (False, ended)


async def test_waiting_for_a_drain_that_is_undone_ends() -> None:
    routers = Routers("r1")
    assert await routers.first.fleet_orders.wait_drained(A) is None


async def test_without_pins_known_a_drain_is_not_through() -> None:
    routers = Routers("r1")
    await routers.first.fleet_orders.drain(A)
    await routers.hear()
    routers.pins.broken = True
    so_far = await routers.first.fleet_orders.progress(A)
    assert so_far is not None
    assert (so_far.sessions_left, so_far.may_stop) == (None, False)


async def test_no_order_can_be_given_while_the_board_is_away() -> None:
    routers = Routers("r1")
    routers.board.broken = True
    for order in (routers.first.fleet_orders.drain(A), routers.first.fleet_orders.remove(A)):
        with pytest.raises(BoardUnavailable):
            await order


async def test_replicas_outlive_a_board_that_was_emptied_and_it_is_said_once() -> None:
    now, state = 1_000.0, FleetState()
    boards = [MemoryBoard(clock=lambda: now), MemoryBoard(clock=lambda: now)]
    before, board = boards[0], ChangingBoard(boards)
    orders = Orders(board=board, router=R1, obey=[state.apply], in_flight=dict, settings=RouterSettings())
    spec = ReplicaSpec(D, "http://d")
    await before.add(spec)
    await orders.take_round()
    boards.pop(0)
    with capture_logs() as logs:
        await orders.take_round()
        await orders.take_round()
    assert state.members == (spec,)
    assert [entry["event"] for entry in logs] == ["the board was emptied; replicas go on"]
    now += 61
    await orders.take_round()
    assert not state.members


async def test_a_router_that_begins_remembers_nothing() -> None:
    state = FleetState()
    orders = Orders(board=MemoryBoard(), router=R1, obey=[state.apply], in_flight=dict, settings=RouterSettings())
    await orders.take_round()
    assert not state.members


class ChangingBoard(MemoryBoard):
    """The first of these, as a server that comes back without its data."""

    def __init__(self, boards: list[MemoryBoard]) -> None:
        super().__init__()
        self._boards = boards

    @override
    async def read(self) -> Board:
        return await self._boards[0].read()

    @override
    async def report(self, router: RouterId, in_flight: Mapping[ReplicaId, int] | None) -> None:
        await self._boards[0].report(router, in_flight)
