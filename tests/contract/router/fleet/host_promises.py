"""What every host of replicas promises: a suite to inherit, over a fixture `house` that has room for three replicas."""

from collections.abc import Sequence
from typing import Protocol

import pytest

from router.domain.fleet import ReplicaId
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.errors import HostUnavailable
from router.fleet.ports import ReplicaHost

NEVER = ReplicaId("one-that-never-was")


class HostHouse(Protocol):
    """A host on which nothing runs at first, and the hands that move what it stands on."""

    @property
    def host(self) -> ReplicaHost: ...

    def another(self) -> ReplicaHost:
        """A host over the same world that knows of nothing, as the next controller's."""

    async def settle(self) -> None:
        """Until the host has done what it was told: what was started runs, what was stopped is gone."""

    async def kill(self, replica: ReplicaId) -> None:
        """Have it end by itself, and return when the host can know."""

    async def cut(self) -> None:
        """The host cannot be asked any more."""

    async def mend(self) -> None: ...


class HostPromises:
    """Inherit it as `class TestThisHost(HostPromises)` beside a fixture `house` of your own."""

    async def test_nothing_is_there_at_first(self, house: HostHouse) -> None:
        assert list(await house.host.list()) == []

    async def test_what_was_started_runs_where_it_is_said_to(self, house: HostHouse) -> None:
        (replica,) = await running(house, 1)
        assert replica.id == ORDERS[0] or house.host.names_replicas
        assert replica.phase is HostPhase.RUNNING
        assert replica.url.startswith("http://")
        assert replica.since > 0

    async def test_an_order_that_is_given_twice_is_one(self, house: HostHouse) -> None:
        await house.host.start(ORDERS[0], among=1)
        await house.host.start(ORDERS[0], among=1)
        await house.settle()
        await house.host.start(ORDERS[0], among=1)
        await house.settle()
        assert len(await house.host.list()) == 1

    async def test_each_has_an_id_and_a_place_of_its_own(self, house: HostHouse) -> None:
        replicas = await running(house, 3)
        assert len({replica.id for replica in replicas}) == 3
        assert len({replica.url for replica in replicas}) == 3

    async def test_what_is_told_of_it_stays_so(self, house: HostHouse) -> None:
        before = await running(house, 2)
        await house.host.start(ORDERS[2], among=3)
        await house.settle()
        after = {replica.id: replica for replica in await house.host.list()}
        assert [after[replica.id] for replica in before] == list(before)

    async def test_one_that_ended_by_itself_says_how_until_it_is_stopped(self, house: HostHouse) -> None:
        ill, well = await running(house, 2)
        await house.kill(ill.id)
        listed = {replica.id: replica for replica in await house.host.list()}
        assert listed[ill.id].phase is HostPhase.EXITED
        assert listed[ill.id].detail
        assert listed[well.id] == well
        await house.host.stop(ill.id, among=1)
        await house.settle()
        assert await ids(house) == {well.id}

    async def test_one_that_is_stopped_goes_and_stopping_it_again_is_nothing(self, house: HostHouse) -> None:
        (replica,) = await running(house, 1)
        await house.host.stop(replica.id, among=0)
        await house.host.stop(replica.id, among=0)
        await house.settle()
        assert await ids(house) == set()
        await house.host.stop(replica.id, among=0)
        await house.settle()
        assert await ids(house) == set()

    async def test_stopping_one_leaves_the_others_as_they_are(self, house: HostHouse) -> None:
        first, middle, last = await running(house, 3)
        await house.host.mark(middle.id, Mark.LEAVING)
        await house.host.stop(middle.id, among=2)
        await house.settle()
        left = {replica.id: replica for replica in await house.host.list()}
        assert left == {first.id: first, last.id: last}

    async def test_stopping_what_never_was_is_nothing(self, house: HostHouse) -> None:
        await house.host.stop(NEVER, among=0)
        (replica,) = await running(house, 1)
        await house.host.stop(NEVER, among=1)
        await house.settle()
        assert list(await house.host.list()) == [replica]

    async def test_the_next_one_is_another(self, house: HostHouse) -> None:
        (old,) = await running(house, 1)
        await house.host.stop(old.id, among=0)
        await house.settle()
        await house.host.start(ORDERS[1], among=1)
        await house.settle()
        (new,) = await house.host.list()
        assert new.id != old.id
        assert new.phase is HostPhase.RUNNING

    async def test_marks_change_nothing_that_is_listed(self, house: HostHouse) -> None:
        before = await running(house, 2)
        for mark in (Mark.SERVING, Mark.SERVING, Mark.LEAVING, Mark.LEAVING, Mark.SERVING):
            await house.host.mark(before[0].id, mark)
        await house.host.mark(NEVER, Mark.LEAVING)
        await house.settle()
        assert {replica.id: replica for replica in await house.host.list()} == {r.id: r for r in before}

    async def test_a_host_that_cannot_be_asked_says_so_and_nothing_changes(self, house: HostHouse) -> None:
        before = await running(house, 1)
        await house.cut()
        with pytest.raises(HostUnavailable):
            await house.host.list()
        with pytest.raises(HostUnavailable):
            await house.host.start(ORDERS[1], among=2)
        with pytest.raises(HostUnavailable):
            await house.host.stop(before[0].id, among=0)
        await house.mend()
        await house.settle()
        assert list(await house.host.list()) == list(before)

    async def test_it_is_found_and_stopped_by_the_next_controller(self, house: HostHouse) -> None:
        before = await running(house, 2)
        successor = house.another()
        found = {replica.id: replica for replica in await successor.list()}
        assert found == {replica.id: replica for replica in before}
        await successor.start(ORDERS[1], among=2)
        await successor.stop(before[0].id, among=1)
        await house.settle()
        assert [replica.id for replica in await successor.list()] == [before[1].id]
        assert await ids(house) == {before[1].id}


ORDERS = (ReplicaId("order-1"), ReplicaId("order-2"), ReplicaId("order-3"))


async def running(house: HostHouse, count: int) -> Sequence[HostedReplica]:
    """So many, started one after the other; as the host lists them."""
    for among, order in enumerate(ORDERS[:count], 1):
        await house.host.start(order, among=among)
    await house.settle()
    replicas = await house.host.list()
    assert [replica.phase for replica in replicas] == [HostPhase.RUNNING] * count
    return replicas


async def ids(house: HostHouse) -> set[ReplicaId]:
    return {replica.id for replica in await house.host.list()}
