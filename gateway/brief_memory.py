"""Answers that may be a few seconds old, so that not every turn asks the database."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

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
        self._known: dict[Key, tuple[float, Value]] = {}
        self._changes = 0

    async def get(self, key: Key) -> Value:
        # Counted from before the question, so that no answer is trusted for longer than promised.
        now, changes = self._clock(), self._changes
        until, value = self._known.get(key, (now, self._otherwise))
        if now < until:
            return value
        try:
            value = await self._ask(key)
        except RecordsUnavailable:
            now = self._clock()
        # An answer that crossed a change made here may be the one from before it.
        if changes == self._changes:
            self._remember(key, now + self._ttl_s, value)
        return value

    def forget(self, key: Key) -> None:
        self._changes += 1
        self._known.pop(key, None)

    def _remember(self, key: Key, until: float, value: Value) -> None:
        self._known.pop(key, None)
        self._known[key] = until, value
        if len(self._known) > _MOST_REMEMBERED:
            del self._known[next(iter(self._known))]
