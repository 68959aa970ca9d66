"""Pins in Redis, shared by all routers; every call is one script, so that two routers never see half a move.

The layout of the keys stands in lua/pins.lua. The scripts name their keys themselves, which one Redis with its replicas
allows and a Redis Cluster does not.
"""

from collections.abc import Callable, Mapping, Sequence
from sys import intern

from redis.asyncio import Redis
from typing_extensions import override

from router.adapters.redis_script import RedisAway, RedisScript
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, InUse, Pin, PinnedLoad
from router.domain.pin_record import PinRecord, Touched
from router.domain.rendezvous import start_of
from router.errors import PinStoreUnavailable
from router.ports import PinStore, PinUse

_SWEPT_AT_ONCE = 1_000
_SWEEPS = 100
# What Lua can unpack at once ends at 8,000 values.
_MOST_CANDIDATES = 4_000
_SCRIPTS = (
    "get_pin",
    "claim_pin",
    "end_pin",
    "touch_pins",
    "restore_pins",
    "sweep_pins",
    "pin_loads",
    "pinned_here",
    "pins_in_use",
    "epoch",
)


class RedisPins(PinStore, PinUse):
    """Needs Redis 6.2 or newer."""

    def __init__(
        self,
        *,
        client: Redis,
        ttl_s: float,
        cohort_bound: float = 1.05,
        timeout_s: float = 0.5,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """`clock` None: the one of Redis, which is the same for all routers."""
        self._ttl_ms = round(ttl_s * 1000)
        self._cohort_bound = cohort_bound
        self._clock = clock
        self._scripts = {name: RedisScript("pins", name, client=client, timeout_s=timeout_s) for name in _SCRIPTS}

    @override
    async def get(self, key: AffinityKey) -> Pin | None:
        found = await self.find(key)
        return None if found is None else found.pin

    @override
    async def claim(
        self,
        key: AffinityKey,
        candidates: Sequence[ReplicaId],
        *,
        replacing: Pin | None,
        demand: Demand,
        prefer: ReplicaId | None = None,
    ) -> Pin:
        won = await self.win(key, candidates, replacing=replacing, demand=demand, prefer=prefer)
        return won.pin

    @override
    async def end(self, key: AffinityKey) -> None:
        await self._run("end_pin", key)

    @override
    async def loads(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, PinnedLoad]:
        for _ in range(_SWEEPS):
            if await self._run("sweep_pins", _SWEPT_AT_ONCE) != _SWEPT_AT_ONCE:
                break
        figures = _integers(await self._run("pin_loads", *replicas))
        pairs = zip(figures[::2], figures[1::2], strict=True)
        return {replica: PinnedLoad(*pair) for replica, pair in zip(replicas, pairs, strict=True)}

    @override
    async def pinned(self, replica: ReplicaId, *, limit: int) -> Sequence[tuple[AffinityKey, Pin]]:
        found = _items(await self._run("pinned_here", replica, limit))
        pairs = zip(found[::2], found[1::2], strict=True)
        return [(AffinityKey(_text(key)), Pin(replica, _integer(generation))) for key, generation in pairs]

    @override
    async def in_use(self, replicas: Sequence[ReplicaId], *, within_s: float) -> InUse:
        contents, *counts = _items(await self._run("pins_in_use", round(within_s * 1000), *replicas))
        return InUse(dict(zip(replicas, map(_integer, counts), strict=True)), _text(contents))

    async def find(self, key: AffinityKey) -> PinRecord | None:
        """As `get`, with what the pin was claimed for."""
        answer = await self._run("get_pin", key)
        return None if answer is None else _record(answer)

    async def win(
        self,
        key: AffinityKey,
        candidates: Sequence[ReplicaId],
        *,
        replacing: Pin | None,
        demand: Demand,
        prefer: ReplicaId | None,
    ) -> PinRecord:
        """As `claim`, with what the pin that won was claimed for."""
        replaced: tuple[str, int] = ("", 0) if replacing is None else (replacing.replica, replacing.generation)
        among = [prefer] if prefer is not None and prefer in candidates else candidates[:_MOST_CANDIDATES]
        wanted = (demand.kv_tokens, demand.cohort, self._cohort_bound, start_of(key))
        *record, is_won = _items(await self._run("claim_pin", key, *replaced, *wanted, *among))
        return _record(record, is_won=bool(is_won))

    async def touch(self, used: Sequence[tuple[AffinityKey, Pin]]) -> Touched:
        """Note that these are in use, and learn which of them are wrong."""
        arguments = [part for key, pin in used for part in (key, pin.replica, pin.generation)]
        epoch, *wrong = _items(await self._run("touch_pins", *arguments))
        return Touched(_text(epoch), dict(_correction(used, entry) for entry in wrong))

    async def restore(self, lost: Sequence[tuple[AffinityKey, PinRecord]]) -> Sequence[PinRecord]:
        """Write them again in their next generation, except where there are pins; the pins there are now."""
        arguments = [
            part
            for key, record in lost
            for part in (
                key,
                record.pin.replica,
                record.pin.generation,
                record.demand.kv_tokens,
                record.demand.cohort,
            )
        ]
        return [_record(answer) for answer in _items(await self._run("restore_pins", *arguments))]

    async def settle(self) -> None:
        """Return once Redis has sent off what its scripts had told before. It writes to its connections in no promised
        order, but has written to all of them before it takes the next command.
        """
        await self._run("epoch")

    async def _run(self, name: str, *arguments: str | int | float) -> object:
        now = "" if self._clock is None else round(self._clock() * 1000)
        try:
            return await self._scripts[name].run([self._ttl_ms, now, *arguments])
        except RedisAway as error:
            raise PinStoreUnavailable(str(error)) from error


def _correction(used: Sequence[tuple[AffinityKey, Pin]], entry: object) -> tuple[AffinityKey, PinRecord | None]:
    place, *truth = _items(entry)
    return used[_integer(place)][0], _record(truth) if truth else None


def _record(answer: object, *, is_won: bool = False) -> PinRecord:
    match answer:
        case [bytes(replica), int(generation), int(kv_tokens), bytes(cohort)]:
            # The same few names come again and again, and are kept for every session that is cached.
            pin = Pin(ReplicaId(intern(replica.decode())), generation, is_won)
            return PinRecord(pin, Demand(kv_tokens, intern(cohort.decode())))
        case _:
            raise PinStoreUnavailable("a pin came back in an unknown shape")


def _items(answer: object) -> list[object]:
    if not isinstance(answer, list):
        raise PinStoreUnavailable("an answer came back in an unknown shape")
    return answer


def _integers(answer: object) -> list[int]:
    return [_integer(item) for item in _items(answer)]


def _integer(item: object) -> int:
    if not isinstance(item, int):
        raise PinStoreUnavailable("a number came back in an unknown shape")
    return item


def _text(item: object) -> str:
    if not isinstance(item, bytes):
        raise PinStoreUnavailable("a name came back in an unknown shape")
    return item.decode()
