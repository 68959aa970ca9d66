"""How long a looked-up key is remembered, and when it is not."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest
from typing_extensions import override

from gateway.adapters.cached_keys import CachedKeys
from gateway.domain.access import KeyId, Principal, Role, StoredKey
from gateway.errors import KeysUnavailable
from gateway.ports import Account, Keys

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
OWNER = Principal(UUID(int=1), UUID(int=2), Role.TRAINEE)
TTL_S = 5.0


def _key(name: str) -> StoredKey:
    return StoredKey(KeyId(name), bytes(32), OWNER)


class _CountedKeys(Keys):
    """Counts the questions; can be away, and can be held up in the middle of an answer."""

    def __init__(self) -> None:
        self.stored: dict[KeyId, StoredKey] = {}
        self.asked: list[str] = []
        self.away = False
        self.arrived = asyncio.Event()
        self.free = asyncio.Event()
        self.free.set()

    @override
    async def find(self, key: KeyId) -> StoredKey | None:
        self.asked.append(key)
        if self.away:
            raise KeysUnavailable
        answer = self.stored.get(key)
        self.arrived.set()
        await self.free.wait()
        return answer

    @override
    async def add(self, key: StoredKey, *, at: datetime) -> None:
        self.stored[key.id] = key

    @override
    async def revoke(self, tenant: UUID, key: KeyId, *, at: datetime) -> bool:
        return self.stored.pop(key, None) is not None

    @override
    async def of_tenant(self, tenant: UUID) -> Sequence[tuple[StoredKey, Account]]:
        return [(key, Account(OWNER.account, tenant, OWNER.role, "Li")) for key in self.stored.values()]


class _Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store() -> _CountedKeys:
    made = _CountedKeys()
    made.stored[KeyId("k")] = _key("k")
    return made


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def keys(store: _CountedKeys, clock: _Clock) -> CachedKeys:
    return CachedKeys(keys=store, ttl_s=TTL_S, clock=clock, capacity=3)


@pytest.mark.parametrize(("name", "answer"), [("k", _key("k")), ("unknown", None)])
async def test_an_answer_is_remembered_for_its_time_and_no_longer(
    keys: CachedKeys, store: _CountedKeys, clock: _Clock, name: str, answer: StoredKey | None
) -> None:
    for passed in (0.0, 1.0, 3.9):
        clock.now = 1000.0 + passed
        assert await keys.find(KeyId(name)) == answer
    assert store.asked == [name]
    clock.now = 1000.0 + TTL_S
    assert await keys.find(KeyId(name)) == answer
    assert store.asked == [name, name]


async def test_an_answer_counts_from_the_question(keys: CachedKeys, store: _CountedKeys, clock: _Clock) -> None:
    store.free.clear()
    asking = asyncio.create_task(keys.find(KeyId("k")))
    await store.arrived.wait()
    clock.now += TTL_S
    store.free.set()
    assert await asking == _key("k")
    await keys.find(KeyId("k"))
    assert len(store.asked) == 2


async def test_a_revoked_key_is_forgotten_at_once(keys: CachedKeys) -> None:
    assert await keys.find(KeyId("k")) is not None
    assert await keys.revoke(OWNER.tenant, KeyId("k"), at=NOON) is True
    assert await keys.find(KeyId("k")) is None


async def test_an_added_key_is_known_at_once(keys: CachedKeys) -> None:
    assert await keys.find(KeyId("new")) is None
    await keys.add(_key("new"), at=NOON)
    assert await keys.find(KeyId("new")) == _key("new")


async def test_an_answer_that_crossed_a_revocation_is_not_remembered(keys: CachedKeys, store: _CountedKeys) -> None:
    store.free.clear()
    asking = asyncio.create_task(keys.find(KeyId("k")))
    await store.arrived.wait()
    await keys.revoke(OWNER.tenant, KeyId("k"), at=NOON)
    store.free.set()
    assert await asking == _key("k")
    assert await keys.find(KeyId("k")) is None


async def test_a_failure_is_not_remembered(keys: CachedKeys, store: _CountedKeys) -> None:
    store.away = True
    with pytest.raises(KeysUnavailable):
        await keys.find(KeyId("k"))
    store.away = False
    assert await keys.find(KeyId("k")) == _key("k")


async def test_a_remembered_key_outlives_a_short_absence_of_the_store(keys: CachedKeys, store: _CountedKeys) -> None:
    await keys.find(KeyId("k"))
    store.away = True
    assert await keys.find(KeyId("k")) == _key("k")


async def test_the_oldest_answer_makes_room(keys: CachedKeys, store: _CountedKeys) -> None:
    for name in ("a", "b", "c", "d"):
        store.stored[KeyId(name)] = _key(name)
        await keys.find(KeyId(name))
    store.asked.clear()
    for name in ("d", "c", "b", "a"):
        await keys.find(KeyId(name))
    assert store.asked == ["a"]


async def test_made_up_keys_do_not_push_out_known_ones(keys: CachedKeys, store: _CountedKeys) -> None:
    await keys.find(KeyId("k"))
    for number in range(10):
        await keys.find(KeyId(f"made up {number}"))
    store.asked.clear()
    await keys.find(KeyId("k"))
    assert store.asked == []


async def test_a_very_long_id_takes_no_room(keys: CachedKeys, store: _CountedKeys) -> None:
    endless = KeyId("x" * 1000)
    await keys.find(endless)
    await keys.find(endless)
    assert store.asked == [endless, endless]


async def test_lists_are_never_remembered(keys: CachedKeys, store: _CountedKeys) -> None:
    assert len(await keys.of_tenant(OWNER.tenant)) == 1
    store.stored.clear()
    assert await keys.of_tenant(OWNER.tenant) == []


async def test_a_known_key_goes_on_while_the_store_is_away_and_not_for_ever(store: _CountedKeys, clock: _Clock) -> None:
    keys = CachedKeys(keys=store, ttl_s=TTL_S, stale_s=60.0, clock=clock)
    await keys.add(_key("known"), at=NOON)
    await keys.add(_key("revoked"), at=NOON)
    for name in ("known", "revoked", "made up"):
        await keys.find(KeyId(name))
    store.away = True
    clock.now += 59.0
    assert await keys.find(KeyId("known")) == _key("known")
    for unknown in ("made up", "new"):
        with pytest.raises(KeysUnavailable):
            await keys.find(KeyId(unknown))
    await keys.revoke(OWNER.tenant, KeyId("revoked"), at=NOON)
    with pytest.raises(KeysUnavailable):
        await keys.find(KeyId("revoked"))
    clock.now += 1.0
    with pytest.raises(KeysUnavailable):
        await keys.find(KeyId("known"))
