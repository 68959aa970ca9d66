"""The last decisions of all routers, shared through Redis."""

import asyncio
from collections import deque

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.adapters.redis_script import RedisAway, RedisScript
from router.domain.decision import Decision
from router.domain.decision_json import decision_from_json, decision_to_json
from router.errors import DecisionsUnavailable
from router.ports import DecisionLog

_log: FilteringBoundLogger = structlog.get_logger(__name__)

_KEPT_S = 3_600
_KEY = "dy:decision:"
_LONGEST_ID = 200


class RedisDecisions(DecisionLog):
    """Answers from `own` first, which is this process's own log. `run` must be running for others to see them.

    What is shared has a limit per second, so that a flood of small requests does not spend its time on its own
    minutes: of those above it the oldest are known to this process only, and counted as `lost`.
    """

    def __init__(
        self, *, client: Redis, own: DecisionLog, timeout_s: float = 0.5, interval_s: float = 0.5, most: int = 1_000
    ) -> None:
        self._client = client
        self._own = own
        self._timeout_s = timeout_s
        self._interval_s = interval_s
        self._unsent: deque[Decision] = deque()
        self._most = most
        self._script = RedisScript("write_decisions", client=client, timeout_s=timeout_s)
        self._is_away = False
        self.lost = 0

    @override
    def write(self, decision: Decision) -> None:
        self._own.write(decision)
        if len(self._unsent) >= self._most:
            self._unsent.popleft()
            self.lost += 1
        self._unsent.append(decision)

    @override
    async def find(self, request_id: str) -> Decision | None:
        found = await self._own.find(request_id)
        if found is not None or not _is_sharable(request_id):
            return found
        try:
            async with asyncio.timeout(self._timeout_s):
                kept = await self._client.get(_KEY + request_id)
            return None if kept is None else decision_from_json(kept if isinstance(kept, bytes) else kept.encode())
        except (TimeoutError, RedisError, ValueError) as error:
            raise DecisionsUnavailable(type(error).__name__) from error

    async def run(self) -> None:
        """Send for ever what was written."""
        while True:
            await asyncio.sleep(self._interval_s)
            await self.flush()

    async def flush(self) -> None:
        """Send what has been written so far; what cannot be sent is lost."""
        batch, self._unsent = self._unsent, deque()
        if not batch:
            return
        arguments: list[str | bytes | int] = [_KEPT_S]
        for decision in batch:
            if _is_sharable(decision.request_id):
                arguments += (decision.request_id, decision_to_json(decision))
        try:
            await self._script.run(arguments)
        except RedisAway as error:
            self.lost += len(batch)
            self._note_away(str(error))
        else:
            self._is_away = False

    def _note_away(self, detail: str) -> None:
        if not self._is_away:
            _log.warning("decisions are not shared", detail=detail)
        self._is_away = True


def _is_sharable(request_id: str) -> bool:
    """Whether it can stand in a key: it comes from outside."""
    return 0 < len(request_id) <= _LONGEST_ID and request_id.isprintable()
