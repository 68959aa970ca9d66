"""A fleet that never changes."""

import asyncio

import pytest

from router.adapters.static_fleet import StaticFleet
from router.domain.fleet import ReplicaId, ReplicaSpec

A, B = (ReplicaSpec(ReplicaId(name), f"http://{name}") for name in "ab")


async def test_it_is_what_the_settings_say() -> None:
    assert await StaticFleet(replicas=[B, A]).replicas() == (B, A)


async def test_it_never_changes() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await StaticFleet(replicas=[A]).changed()
