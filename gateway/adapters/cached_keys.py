"""Remembers looked-up keys for a few seconds, so that a turn does not cost a query only to learn who asks."""

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from typing_extensions import override

from gateway.domain.access import KeyId, StoredKey
from gateway.domain.remembered import Remembered
from gateway.errors import KeysUnavailable
from gateway.ports import Account, Keys

# No key of ours is longer; a longer one is not worth remembering.
_LONGEST_ID = 128


class CachedKeys(Keys):
    """`Keys` whose `find` may be `ttl_s` old. A key added or revoked through it is asked for anew at once.

    Unknown keys have a memory of their own: whoever tries made-up ones must not push out the known. While keys cannot
    be looked up, a known one goes on as it was last seen for `stale_s`.
    """

    def __init__(
        self,
        *,
        keys: Keys,
        ttl_s: float,
        clock: Callable[[], float],
        stale_s: float = 0.0,
        capacity: int = 10_000,
    ) -> None:
        self._keys = keys
        self._ttl_s = ttl_s
        self._stale_s = stale_s
        self._last = Remembered[KeyId, StoredKey | None](capacity)
        self._clock = clock
        self._known = Remembered[KeyId, StoredKey | None](capacity)
        self._unknown = Remembered[KeyId, StoredKey | None](capacity)
        self._changes = 0

    @override
    async def find(self, key: KeyId) -> StoredKey | None:
        # Counted from before the question, so that no answer is trusted for longer than promised.
        now, changes = self._clock(), self._changes
        remembered = self._known.get(key, now=now) or self._unknown.get(key, now=now)
        if remembered is not None:
            return remembered[0]
        try:
            found = await self._keys.find(key)
        except KeysUnavailable:
            stale = self._last.get(key, now=now)
            if stale is None:
                raise
            return stale[0]
        # An answer that crossed a change made here may be the one from before it.
        if changes == self._changes and len(key) <= _LONGEST_ID:
            memory = self._unknown if found is None else self._known
            memory.put(key, found, until=now + self._ttl_s)
            if found is not None:
                self._last.put(key, found, until=now + self._stale_s)
        return found

    @override
    async def add(self, key: StoredKey, *, at: datetime) -> None:
        try:
            await self._keys.add(key, at=at)
        finally:
            self._forget(key.id)

    @override
    async def revoke(self, tenant: UUID, key: KeyId, *, at: datetime) -> bool:
        try:
            return await self._keys.revoke(tenant, key, at=at)
        finally:
            self._forget(key)

    @override
    async def of_tenant(self, tenant: UUID) -> Sequence[tuple[StoredKey, Account]]:
        return await self._keys.of_tenant(tenant)

    def _forget(self, key: KeyId) -> None:
        self._changes += 1
        self._known.forget(key)
        self._unknown.forget(key)
        self._last.forget(key)
