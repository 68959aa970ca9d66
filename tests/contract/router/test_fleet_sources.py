"""What every source of the fleet's members promises, on each of them."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from router.adapters.file_fleet import FileFleet
from router.adapters.kubernetes_fleet import KubernetesFleet
from router.adapters.static_fleet import StaticFleet
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.errors import FleetSourceUnavailable
from router.ports import FleetSource
from tests.support.fake_kubernetes import NAMESPACE, SERVICE, Pod, fake_kubernetes

A, B = (ReplicaSpec(ReplicaId(name), f"http://10.0.0.{number}:8000") for number, name in enumerate("ab", 1))


@dataclass(frozen=True, slots=True)
class Listed:
    """A source, and the hands that change what it lists; None: nothing it can be asked for."""

    source: FleetSource
    becomes: Callable[[Sequence[ReplicaSpec] | None], Awaitable[None]]


@asynccontextmanager
async def in_a_file(folder: Path) -> AsyncIterator[Listed]:
    path = folder / "fleet.json"

    async def becomes(specs: Sequence[ReplicaSpec] | None) -> None:
        if specs is None:
            path.unlink()
        else:
            path.write_text(json.dumps([{"id": spec.id, "url": spec.url} for spec in specs]))

    await becomes([A])
    yield Listed(FileFleet(path=path, poll_s=0.005), becomes)


@asynccontextmanager
async def in_kubernetes(_: Path) -> AsyncIterator[Listed]:
    async with fake_kubernetes() as api:

        async def becomes(specs: Sequence[ReplicaSpec] | None) -> None:
            if specs is None:
                await api.stop()
                return
            if not api.is_up:
                await api.start()
            await api.put("vllm-1", *(Pod(spec.id, spec.url.split("/")[2].split(":")[0]) for spec in specs))

        await becomes([A])
        fleet = KubernetesFleet(client=api.client(), namespace=NAMESPACE, service=SERVICE, port=8000, pause_s=0.01)
        yield Listed(fleet, becomes)
        await fleet.close()
        await becomes([A])


@pytest.fixture(params=[in_a_file, in_kubernetes], ids=["file", "kubernetes"])
async def listed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Listed]:
    async with request.param(tmp_path) as listed:
        yield listed


async def until(source: FleetSource, wanted: Sequence[ReplicaSpec] | None) -> None:
    """Follow the source as its keeper does."""
    async with asyncio.timeout(10.0):
        while await known(source) != wanted:
            await source.changed()


async def known(source: FleetSource) -> Sequence[ReplicaSpec] | None:
    try:
        return await source.replicas()
    except FleetSourceUnavailable:
        return None


async def test_asking_twice_gives_the_same_in_the_same_order(listed: Listed) -> None:
    await listed.becomes([A, B])
    assert list(await listed.source.replicas()) == list(await listed.source.replicas()) == [A, B]


async def test_who_follows_it_sees_every_state_in_the_end(listed: Listed) -> None:
    await until(listed.source, (A,))
    await listed.becomes([A, B])
    await until(listed.source, (A, B))
    await listed.becomes([B])
    await until(listed.source, (B,))


async def test_an_outage_is_said_and_ends(listed: Listed) -> None:
    await until(listed.source, (A,))
    await listed.becomes(None)
    await until(listed.source, None)
    await listed.becomes([A, B])
    await until(listed.source, (A, B))


async def test_waiting_for_a_change_can_be_given_up_and_taken_up_again(listed: Listed) -> None:
    await until(listed.source, (A,))
    for _ in range(3):
        await asyncio.wait([follower := asyncio.ensure_future(until(listed.source, (B,)))], timeout=0.02)
        follower.cancel()
        await asyncio.wait([follower])
    await listed.becomes([B])
    await until(listed.source, (B,))


async def test_the_settings_list_never_fails() -> None:
    assert await known(StaticFleet(replicas=[A, B])) == (A, B)
