"""A client that goes, or stays without reading."""

import asyncio

import pytest

from router.http import lost_client
from router.http.asgi import Message
from router.http.lost_client import Patience, while_client_stays
from tests.unit.router.http.caller import FakeClient


async def never() -> Message:
    await asyncio.get_running_loop().create_future()
    return {"type": "http.disconnect"}


async def test_work_that_is_done_in_time_is_left_alone() -> None:
    done: list[int] = []

    async def work() -> None:
        done.append(1)

    client = FakeClient()
    await while_client_stays(client, never, work())
    await while_client_stays(None, never, work())
    assert done == [1, 1]
    assert client.act is None


@pytest.mark.parametrize("client", [FakeClient(), None])
async def test_a_shutdown_is_no_lost_client(client: FakeClient | None) -> None:
    """Who cancels for another reason sees the cancellation come through."""

    async def work() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await while_client_stays(client, never, work())


async def test_an_error_of_the_work_comes_through() -> None:
    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await while_client_stays(FakeClient(), never, work())


async def test_a_client_that_reads_nothing_is_cut_off_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_client, "UNREAD_S", 0.01)
    stuck, reading, idle = FakeClient(), FakeClient(), FakeClient()
    watches = [Patience(stuck), Patience(reading), Patience(idle), Patience(None)]
    watches[0].is_sending = watches[1].is_sending = True
    async with asyncio.timeout(5):
        while not stuck.aborted:
            watches[1].sent += 1
            await asyncio.sleep(0)
    assert (stuck.aborted, reading.aborted, idle.aborted) == (1, 0, 0)
    for watch in watches:
        watch.end()
