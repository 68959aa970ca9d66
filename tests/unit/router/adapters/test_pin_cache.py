"""When a cached pin is believed, and when the store is asked."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from typing_extensions import override

from router.adapters.memory_pins import MemoryPins
from router.adapters.pin_cache import CachedPins
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, Pin
from router.domain.pin_record import Move, PinRecord, Touched
from router.errors import PinStoreUnavailable
from tests.support.cached_pins import until

KEY, OTHER = AffinityKey("s"), AffinityKey("other")
A, B = ReplicaId("a"), ReplicaId("b")
DEMAND = Demand(7, "scenario")
TTL_S = 100


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class FakeFeed:
    """A subscription that hears what a test says."""

    def __init__(self) -> None:
        self.number = 1
        self.is_up = True
        self.unread: list[Move] = []
        self.is_stuck = False
        self._heard: Callable[[Move], None] = lambda _: None

    def tell(self, heard: Callable[[Move], None]) -> None:
        self._heard = heard

    def vouches(self, now: float) -> bool:
        return self.is_up and now > 0

    def has_unread(self) -> bool:
        if self.unread:
            asyncio.get_running_loop().call_soon(self.read_all)
        return bool(self.unread) or self.is_stuck

    def read_all(self) -> None:
        while self.unread:
            self._heard(self.unread.pop(0))

    def hear(self, key: AffinityKey, pin: Pin | None) -> None:
        self._heard(Move(key, pin))

    async def run(self) -> None:
        await asyncio.Event().wait()


class CountedPins(MemoryPins):
    """A shared store that counts what it is asked, and can be away, emptied or slow."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(ttl_s=TTL_S, clock=clock)
        self.finds = self.settled = 0
        self.touched: list[AffinityKey] = []
        self.is_away = False
        self.epoch = "1"
        self.hold: asyncio.Event | None = None

    def empty(self, epoch: str) -> None:
        for key in list(self._sessions):
            self._drop(key)
        self.epoch = epoch

    async def _answer(self) -> None:
        if self.is_away:
            raise PinStoreUnavailable("away")
        if self.hold is not None:
            await self.hold.wait()

    async def find(self, key: AffinityKey) -> PinRecord | None:
        self.finds += 1
        pin = await self.get(key)
        found = None if pin is None else PinRecord(pin, self._sessions[key].demand)
        await self._answer()
        return found

    async def win(
        self,
        key: AffinityKey,
        candidates: Sequence[ReplicaId],
        *,
        replacing: Pin | None,
        demand: Demand,
        prefer: ReplicaId | None,
    ) -> PinRecord:
        won = await super().claim(key, candidates, replacing=replacing, demand=demand, prefer=prefer)
        await self._answer()
        return PinRecord(won, demand)

    async def touch(self, used: Sequence[tuple[AffinityKey, Pin]]) -> Touched:
        await self._answer()
        self.touched += [key for key, _ in used]
        wrong: dict[AffinityKey, PinRecord | None] = {}
        for key, believed in used:
            if (pin := await self.get(key)) != believed:
                wrong[key] = None if pin is None else PinRecord(pin, DEMAND)
        return Touched(self.epoch, wrong)

    async def restore(self, lost: Sequence[tuple[AffinityKey, PinRecord]]) -> Sequence[PinRecord]:
        await self._answer()
        return [await self.win(key, [r.pin.replica], replacing=r.pin, demand=r.demand, prefer=None) for key, r in lost]

    async def settle(self) -> None:
        await self._answer()
        self.settled += 1

    @override
    async def end(self, key: AffinityKey) -> None:
        await self._answer()
        await super().end(key)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> CountedPins:
    return CountedPins(clock)


@pytest.fixture
def feed() -> FakeFeed:
    return FakeFeed()


@pytest.fixture
def pins(store: CountedPins, feed: FakeFeed, clock: Clock) -> CachedPins:
    return CachedPins(store=store, feed=feed, ttl_s=TTL_S, most=3, clock=clock)


async def claimed(pins: CachedPins, key: AffinityKey = KEY) -> Pin:
    return await pins.claim(key, [A], replacing=None, demand=DEMAND)


async def test_what_was_claimed_or_read_here_is_answered_from_memory(
    pins: CachedPins, store: CountedPins, feed: FakeFeed, clock: Clock
) -> None:
    assert await claimed(pins) == Pin(A, 1)
    assert [await pins.get(KEY) for _ in range(3)] == [Pin(A, 1)] * 3
    assert store.finds == 0
    neighbour = CachedPins(store=store, feed=feed, ttl_s=TTL_S, clock=clock)
    assert [await neighbour.get(KEY) for _ in range(3)] == [Pin(A, 1)] * 3
    assert store.finds == 1


async def test_that_there_is_no_pin_is_not_remembered(pins: CachedPins, store: CountedPins) -> None:
    assert [await pins.get(KEY) for _ in range(2)] == [None, None]
    assert store.finds == 2


async def test_a_move_that_is_heard_is_believed(pins: CachedPins, store: CountedPins, feed: FakeFeed) -> None:
    await claimed(pins)
    feed.hear(KEY, Pin(B, 2))
    feed.hear(OTHER, Pin(B, 9))
    assert await pins.get(KEY) == Pin(B, 2)
    assert store.finds == 0


async def test_a_message_that_has_arrived_is_heard_before_the_answer(
    pins: CachedPins, store: CountedPins, feed: FakeFeed
) -> None:
    await claimed(pins)
    feed.unread.append(Move(KEY, Pin(B, 2)))
    assert await pins.get(KEY) == Pin(B, 2)
    assert store.finds == 0


async def test_when_messages_pile_up_the_store_is_asked(pins: CachedPins, store: CountedPins, feed: FakeFeed) -> None:
    await claimed(pins)
    feed.is_stuck = True
    assert await pins.get(KEY) == Pin(A, 1)
    assert store.finds == 1


@pytest.mark.parametrize("news", [None, Pin(B, 1)])
async def test_after_an_end_or_a_new_beginning_the_store_is_asked(
    pins: CachedPins, store: CountedPins, feed: FakeFeed, news: Pin | None
) -> None:
    await claimed(pins)
    feed.hear(KEY, news)
    await pins.get(KEY)
    assert store.finds == 1


async def test_our_own_message_changes_nothing(pins: CachedPins, store: CountedPins, feed: FakeFeed) -> None:
    feed.hear(KEY, await claimed(pins))
    assert await pins.get(KEY) == Pin(A, 1)
    assert store.finds == 0


async def test_an_answer_older_than_a_message_is_not_kept(pins: CachedPins, store: CountedPins, feed: FakeFeed) -> None:
    await store.claim(KEY, [A], replacing=None, demand=DEMAND)
    store.hold = asyncio.Event()
    reads = [asyncio.ensure_future(pins.get(KEY)) for _ in range(2)]
    await asyncio.sleep(0)
    await store.claim(KEY, [B], replacing=Pin(A, 1), demand=DEMAND)
    feed.hear(KEY, Pin(B, 2))
    store.hold.set()
    assert await asyncio.gather(*reads) == [Pin(A, 1)] * 2  # they began before the move had ended
    assert await pins.get(KEY) == Pin(B, 2)
    assert store.finds == 3


async def test_an_answer_that_agrees_with_the_message_is_kept(
    pins: CachedPins, store: CountedPins, feed: FakeFeed
) -> None:
    store.hold = asyncio.Event()
    claim = asyncio.ensure_future(claimed(pins))
    await asyncio.sleep(0)
    feed.hear(KEY, Pin(A, 1))
    store.hold.set()
    assert await claim == await pins.get(KEY) == Pin(A, 1)
    assert store.finds == 0


async def test_without_a_live_feed_the_store_is_asked(pins: CachedPins, store: CountedPins, feed: FakeFeed) -> None:
    await claimed(pins)
    feed.is_up = False
    await pins.get(KEY)
    await pins.get(KEY)
    assert store.finds == 2


async def test_what_was_known_before_a_feed_broke_is_asked_for_once_more(
    pins: CachedPins, store: CountedPins, feed: FakeFeed
) -> None:
    await claimed(pins)
    feed.number = 2
    await pins.get(KEY)
    await pins.get(KEY)
    assert store.finds == 1


async def test_an_answer_that_spans_two_feeds_is_not_believed(
    pins: CachedPins, store: CountedPins, feed: FakeFeed
) -> None:
    await store.claim(KEY, [A], replacing=None, demand=DEMAND)
    store.hold = asyncio.Event()
    read = asyncio.ensure_future(pins.get(KEY))
    await asyncio.sleep(0)
    feed.number = 2
    store.hold.set()
    await read
    await pins.get(KEY)
    assert store.finds == 2


async def test_a_pin_nobody_used_for_its_time_to_live_is_gone(pins: CachedPins, clock: Clock) -> None:
    await claimed(pins)
    clock.now += TTL_S
    assert await pins.get(KEY) is None


async def test_an_ended_session_has_no_pin(pins: CachedPins) -> None:
    await claimed(pins)
    await pins.end(KEY)
    assert await pins.get(KEY) is None


async def test_without_its_feed_a_cache_does_not_answer_for_a_store_that_is_away(
    pins: CachedPins, store: CountedPins, feed: FakeFeed
) -> None:
    await claimed(pins)
    store.is_away, feed.is_up = True, False
    with pytest.raises(PinStoreUnavailable):
        await pins.get(KEY)


async def test_only_so_many_are_kept_and_the_longest_unused_goes(pins: CachedPins, store: CountedPins) -> None:
    keys = [AffinityKey(f"s-{number}") for number in range(4)]
    for key in keys[:3]:
        await claimed(pins, key)
    await pins.get(keys[0])
    await claimed(pins, keys[3])
    for key in (keys[0], keys[2], keys[3]):
        await pins.get(key)
    assert store.finds == 0
    await pins.get(keys[1])
    assert store.finds == 1


async def test_use_is_told_to_the_store_in_batches(pins: CachedPins, store: CountedPins, clock: Clock) -> None:
    await claimed(pins)
    await claimed(pins, OTHER)
    clock.now += TTL_S - 1
    for _ in range(3):
        await pins.get(KEY)
    await pins.touch_used()
    await pins.touch_used()
    assert store.touched == [KEY]
    clock.now += 2
    assert await store.get(KEY) == Pin(A, 1)
    assert await store.get(OTHER) is None


async def test_use_that_could_not_be_told_is_told_later(pins: CachedPins, store: CountedPins) -> None:
    await claimed(pins)
    await pins.get(KEY)
    store.is_away = True
    with pytest.raises(PinStoreUnavailable):
        await pins.touch_used()
    store.is_away = False
    await pins.touch_used()
    assert store.touched == [KEY]


async def test_the_store_knows_better(pins: CachedPins, store: CountedPins) -> None:
    await claimed(pins)
    await claimed(pins, OTHER)
    await store.claim(KEY, [B], replacing=Pin(A, 1), demand=DEMAND)
    await store.end(OTHER)
    assert (await pins.get(KEY), await pins.get(OTHER)) == (Pin(A, 1), Pin(A, 1))
    await pins.touch_used()
    assert (await pins.get(KEY), await pins.get(OTHER)) == (Pin(B, 2), None)


async def test_what_is_heard_while_the_store_is_told_of_use_is_newer(
    pins: CachedPins, store: CountedPins, feed: FakeFeed
) -> None:
    await claimed(pins)
    await pins.get(KEY)
    await store.end(KEY)
    store.hold = asyncio.Event()
    telling = asyncio.ensure_future(pins.touch_used())
    await asyncio.sleep(0)
    feed.hear(KEY, Pin(B, 2))
    store.hold.set()
    await telling
    assert await pins.get(KEY) == Pin(B, 2)


@pytest.mark.parametrize("epoch", ["", "2"])
async def test_a_store_that_was_emptied_gets_its_pins_back_in_their_next_generation(
    pins: CachedPins, store: CountedPins, feed: FakeFeed, epoch: str
) -> None:
    await claimed(pins)
    await claimed(pins, OTHER)
    await pins.touch_used()
    store.empty(epoch)
    await store.claim(OTHER, [B], replacing=None, demand=DEMAND)
    feed.number = 2
    await pins.touch_used()
    assert (await store.get(KEY), await store.get(OTHER)) == (Pin(A, 2), Pin(B, 1))
    assert (await pins.get(KEY), await pins.get(OTHER)) == (Pin(A, 2), Pin(B, 1))
    assert store.finds == 0


async def test_restoring_is_tried_again_when_it_could_not_be_done(pins: CachedPins, store: CountedPins) -> None:
    await claimed(pins)
    await pins.touch_used()
    store.empty("2")
    store.is_away = True
    with pytest.raises(PinStoreUnavailable):
        await pins.touch_used()
    store.is_away = False
    await pins.touch_used()
    assert await store.get(KEY) == Pin(A, 2)


async def test_what_the_store_said_is_gone_is_not_brought_back(
    pins: CachedPins, store: CountedPins, feed: FakeFeed
) -> None:
    await claimed(pins)
    await pins.touch_used()
    await store.end(KEY)
    feed.number = 2
    assert await pins.get(KEY) is None
    store.empty("2")
    await pins.touch_used()
    assert await store.get(KEY) is None


async def test_a_move_and_an_end_return_once_the_others_have_been_told(pins: CachedPins, store: CountedPins) -> None:
    first = await claimed(pins)
    assert store.settled == 0
    await pins.claim(KEY, [B], replacing=first, demand=DEMAND)
    assert store.settled == 1
    await pins.end(KEY)
    assert store.settled == 2


async def test_loads_and_lists_come_from_the_store(pins: CachedPins) -> None:
    await claimed(pins)
    assert (await pins.loads([A]))[A].kv_tokens == 7
    assert await pins.pinned(A, limit=5) == [(KEY, Pin(A, 1))]


async def test_it_keeps_telling_while_it_runs(
    pins: CachedPins, store: CountedPins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("router.adapters.pin_cache._TOUCH_S", 0.0)
    await claimed(pins)
    await pins.get(KEY)
    store.is_away = True
    running = asyncio.ensure_future(pins.run())
    for _ in range(5):
        await asyncio.sleep(0)
    store.is_away = False
    await until(lambda: bool(store.touched))
    running.cancel()
    await asyncio.wait([running])
