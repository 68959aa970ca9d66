"""Asks the guard and counts what comes of it; a guard that is away is left alone for a while."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.domain.moderation.guard import Absence, Level, Ruling
from gateway.domain.moderation.guard_breaker import GuardBreaker
from gateway.domain.moderation.guard_formats import GuardKind, conversation, ruling_of
from gateway.guard_ports import GuardModel, Silence

_OF_THE_TEXT = frozenset({Silence.REFUSED, Silence.NONSENSE})
"""Silences of a guard that is there."""
_GREETING = "Hello."

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class GuardCalls:
    def __init__(
        self, *, model: GuardModel, kind: GuardKind, breaker: GuardBreaker, ticks: Callable[[], float]
    ) -> None:
        self._model = model
        self._kind = kind
        self._breaker = breaker
        self._ticks = ticks
        self._running = 0
        self._seconds = 0.0
        self._seen = Counter[str]()

    @property
    def is_away(self) -> bool:
        """As far as anybody has seen."""
        return self._breaker.is_open

    async def look_for_it(self, *, every_s: float) -> None:
        """Ask whether it is there, at once and while it is away, for ever: its return costs nobody's turn a wait."""
        await self.judge(_GREETING)
        while True:
            await asyncio.sleep(every_s)
            if self.is_away:
                await self.judge(_GREETING)

    async def judge(self, message: str, reply: str | None = None) -> Ruling | Absence:
        asked_at = self._ticks()
        if not self._breaker.may_ask(asked_at):
            self._seen["skipped"] += 1
            return Absence.AWAY
        self._running += 1
        try:
            said = await self._model.answer(conversation(message, reply))
        finally:
            self._running -= 1
        now = self._ticks()
        self._seconds += now - asked_at
        self._seen["answered"] += 1
        if isinstance(said, Silence):
            return self._silent(said, asked_at, now)
        self._there(now)
        return self._read(said)

    def gauges(self) -> Mapping[str, float]:
        return {"guard_calls_running": self._running, "guard_away": float(self.is_away)}

    def counters(self) -> Mapping[str, float]:
        """Each call ends with a ruling, unreadable, timed out or failed; those skipped are none."""
        seen = self._seen
        return {
            "guard_calls": seen["answered"],
            "guard_call_seconds": self._seconds,
            "guard_safe": seen[Level.SAFE],
            "guard_controversial": seen[Level.CONTROVERSIAL],
            "guard_unsafe": seen[Level.UNSAFE],
            "guard_unreadable": seen[Absence.UNREADABLE],
            "guard_timeouts": seen[Silence.TIMED_OUT],
            "guard_failures": seen[Silence.UNREACHABLE] + seen[Silence.BROKEN],
            "guard_skipped": seen["skipped"],
        }

    def _silent(self, silence: Silence, asked_at: float, now: float) -> Absence:
        if silence in _OF_THE_TEXT:
            self._there(now)
            self._seen[Absence.UNREADABLE] += 1
            return Absence.UNREADABLE
        self._seen[silence] += 1
        was_away = self.is_away
        self._breaker.failed(asked_at=asked_at, now=now)
        if self.is_away and not was_away:
            _log.warning("guard lost", reason=silence)
        return Absence.AWAY

    def _there(self, now: float) -> None:
        if self.is_away:
            _log.info("guard back")
        self._breaker.answered(now)

    def _read(self, said: str) -> Ruling | Absence:
        ruling = ruling_of(self._kind, said)
        if ruling is None:
            self._seen[Absence.UNREADABLE] += 1
            return Absence.UNREADABLE
        self._seen[ruling.level] += 1
        return ruling
