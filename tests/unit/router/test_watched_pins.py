"""An outage of the pins is counted every time and logged once."""

import pytest
from structlog.testing import capture_logs

from router.adapters.memory_pins import MemoryPins
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, Pin, PinnedLoad
from router.errors import PinStoreUnavailable
from router.watched_pins import WatchedPins
from tests.support.fragile_pins import FragilePins

KEY, A = AffinityKey("s"), ReplicaId("a")


async def test_calls_and_answers_pass_through() -> None:
    pins = WatchedPins(MemoryPins(ttl_s=60))
    assert await pins.claim(KEY, [A], replacing=None, demand=Demand()) == Pin(A, 1)
    assert await pins.get(KEY) == Pin(A, 1)
    assert await pins.loads([A]) == {A: PinnedLoad(1, 1)}
    assert await pins.pinned(A, limit=2) == [(KEY, Pin(A, 1))]
    await pins.end(KEY)
    assert await pins.get(KEY) is None
    assert (pins.failures, pins.lost) == (0, False)


async def test_an_outage_is_counted_every_time_and_logged_once() -> None:
    store = FragilePins()
    pins = WatchedPins(store)
    store.broken = True
    with capture_logs() as logs:
        for _ in range(3):
            with pytest.raises(PinStoreUnavailable):
                await pins.get(KEY)
        assert (pins.failures, pins.lost) == (3, True)
        store.broken = False
        await pins.get(KEY)
        await pins.get(KEY)
    assert [entry["event"] for entry in logs] == ["pin store lost", "pin store back"]
    assert (pins.failures, pins.lost) == (3, False)
