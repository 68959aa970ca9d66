"""Answers that may be a few seconds old, so that not every turn asks the database."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from gateway.domain.remembered import Remembered
from sessions.errors import RecordsUnavailable

_MOST_REMEMBERED = 10_000

Key = TypeVar("Key")
Value = TypeVar("Value")


class BriefMemory(Generic[Key, Value]):
    """While the database is away the last known answer goes on, or `otherwise` where there is none; it is asked again
    as seldom as if it answered.
    """

    def __init__(
        self, *, ask: Callable[[Key], Awaitable[Value]], otherwise: Value, ttl_s: float, clock: Callable[[], float]
    ) -> None:
        self._ask = ask
        self._otherwise = otherwise
        self._ttl_s = ttl_s
        self._clock = clock
        self._known = Remembered[Key, Value](_MOST_REMEMBERED)
        self._changes = 0

    async def get(self, key: Key) -> Value:
        # Counted from before the question, so that no answer is trusted for longer than promised.
        now, changes = self._clock(), self._changes
        known = self._known.get(key, now=now)
        if known is not None:
            return known[0]
        (value,) = self._known.last(key) or (self._otherwise,)
        try:
            value = await self._ask(key)
        except RecordsUnavailable:
            now = self._clock()
        # An answer that crossed a change made here may be the one from before it.
        if changes == self._changes:
            self._known.put(key, value, until=now + self._ttl_s)
        return value

    def forget(self, key: Key) -> None:
        self._changes += 1
        self._known.forget(key)
