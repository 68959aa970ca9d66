"""Streams in flight are given back."""

import asyncio

import pytest

from router.domain.fleet import ReplicaId
from router.inflight import InFlight

A, B = ReplicaId("a"), ReplicaId("b")


def test_open_streams_are_counted_per_replica() -> None:
    streams = InFlight()
    with streams.stream(A), streams.stream(A), streams.stream(B):
        assert streams.counts() == {A: 2, B: 1}
    assert streams.counts() == {}


def test_an_error_gives_the_stream_back() -> None:
    streams = InFlight()
    with pytest.raises(KeyError), streams.stream(A):
        raise KeyError
    assert streams.counts() == {}


async def test_a_cancelled_task_gives_the_stream_back() -> None:
    streams = InFlight()

    held = asyncio.Event()

    async def hold() -> None:
        with streams.stream(A):
            held.set()
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(hold())
        await held.wait()
        task.cancel()
    assert streams.counts() == {}
