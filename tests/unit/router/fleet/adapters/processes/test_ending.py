"""How a whole shelf is cleared when nobody looks after it any more."""

import asyncio
from pathlib import Path

from router.domain.fleet import ReplicaId
from router.fleet.adapters.processes.ending import clear
from router.fleet.adapters.processes.shelf import Order
from tests.support.process_house import DEAF, lives, process_house


async def test_all_that_was_ordered_is_ended_whether_it_runs_waits_or_has_ended(tmp_path: Path) -> None:
    async with process_house(tmp_path, slots="ab") as house:
        first = await house.started("first")
        ended = await house.started("ended")
        await house.kill(ReplicaId("ended"))
        await house.host.start(ReplicaId("waits"), among=3)
        cleared = await asyncio.to_thread(clear, tmp_path, within_s=5.0)
        assert sorted(cleared) == ["ended", "first", "waits"]
        assert not any(lives(run.shim.pid) for run in (first, ended))
        assert list(await house.host.list()) == []
        assert clear(tmp_path, within_s=5.0) == []


async def test_who_does_not_end_in_time_is_killed(tmp_path: Path) -> None:
    async with process_house(tmp_path, engine=DEAF, grace_s=0.5) as house:
        run = await house.started()
        await house.until_said("one", "deaf")
        await asyncio.to_thread(clear, tmp_path, within_s=0.5)
        assert not any(lives(one.pid) for one in (run.shim, *run.family))


async def test_an_order_that_nobody_carried_out_is_forgotten(tmp_path: Path) -> None:
    async with process_house(tmp_path) as house:
        assert list(await house.host.list()) == []
        house.shelf.put(Order(ReplicaId("one"), 1.0, slot="a"))
        assert clear(tmp_path, within_s=1.0) == ["one"]
        assert list(house.shelf.orders.iterdir()) == []


def test_where_nothing_was_ever_ordered_nothing_is_made(tmp_path: Path) -> None:
    assert clear(tmp_path / "fleet", within_s=1.0) == ()
    assert not (tmp_path / "fleet").exists()
