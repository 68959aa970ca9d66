"""A turn that has begun: hear the tutor out, release what may be released, then write one row.

A reply that moderation blocks is stopped at the engine at once, before anything is written. Nothing is acknowledged
before the turn's row and its outbox entry are committed. The lease keeps two turns of a session apart; should it be
lost, the session's version still lets only one of them be written.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from sessions.domain.moderation import together
from sessions.domain.turn import IdempotencyKey, Timings, Turn, TurnError, TurnState, Usage
from sessions.errors import TutorBroke
from sessions.moderation_ports import Moderation
from sessions.ports import Clock, Piece, ReplyEnd, TutorReply
from sessions.use_cases.check_outline import outline_judgement
from sessions.use_cases.prepare_turn import PreparedTurn
from sessions.use_cases.released_reply import ReleasedReply
from sessions.use_cases.turn_book import BookedTurn, TurnBook


class Stop(StrEnum):
    """Why a running turn is stopped from outside."""

    CANCELLED = "cancelled"
    SHUTDOWN = "shutdown"


@dataclass(frozen=True, slots=True)
class TurnStart:
    """The caller's own name for the turn, and when both clocks saw it accepted."""

    idempotency: IdempotencyKey | None
    accepted_at: datetime
    ticks: float


@dataclass(frozen=True, slots=True)
class HeldReply:
    """A reply that has begun."""

    reply: TutorReply
    opened: float
    let_go: Callable[[], Awaitable[None]]
    """Stops what is left of it, down to the engine; may be called again."""


@dataclass(frozen=True, slots=True)
class _Ending:
    state: TurnState
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    error: TurnError | None = None


_STOPPED = {
    Stop.CANCELLED: _Ending(TurnState.CANCELLED),
    Stop.SHUTDOWN: _Ending(
        TurnState.FAILED, error=TurnError("server_stopping", "the server is shutting down", retryable=True)
    ),
}
_BROKE = _Ending(TurnState.FAILED, error=TurnError("tutor_broke", "the tutor's reply broke off", retryable=True))
_BLOCKED = _Ending(TurnState.BLOCKED)


class OpenTurn:
    """Run it once. `stop` ends it from outside, with what was released until then."""

    def __init__(
        self,
        *,
        prepared: PreparedTurn,
        start: TurnStart,
        held: HeldReply,
        book: TurnBook,
        moderation: Moderation,
        clock: Clock,
    ) -> None:
        self._prepared = prepared
        self._start = start
        self._held = held
        self._book = book
        self._moderation = moderation
        self._clock = clock
        self._released: ReleasedReply | None = None
        self._stop: Stop | None = None
        self._listening: asyncio.Timeout | None = None
        self._told = Usage()
        self.needs_thought = False
        """Once it has run: whether the session is to be compacted, or made warm again, while its trainee thinks."""

    @property
    def number(self) -> int:
        return self._prepared.session.next_turn

    @property
    def prompt_tokens(self) -> int:
        """What we counted in the whole prompt."""
        return self._prepared.written.prompt_tokens

    @property
    def used(self) -> Usage:
        """Tokens so far: as the engine counted them or, where it has told nothing, as we count what was released."""
        if self._told != Usage():
            return self._told
        said = "" if self._released is None else self._released.text
        return Usage(prompt_tokens=self.prompt_tokens, completion_tokens=self._prepared.writer.count(said))

    @property
    def replica(self) -> str:
        return self._held.reply.replica

    @property
    def pin(self) -> str:
        return self._held.reply.pin

    def stop(self, reason: Stop) -> None:
        """End the reply now; the first reason counts. Nothing once the reply has ended."""
        if self._stop is None:
            self._stop = reason
            self._end_listening()

    async def run(self, release: Callable[[str], None]) -> Turn:
        """Release the reply piece by piece and write the turn; what comes back is what is true of it in the end."""
        prepared = self._prepared
        message = prepared.message
        async with message.rules.reply(message.text, news=self._look_again) as check:
            released = self._released = ReleasedReply(check=check, release=release, clock=self._clock)
            ending = await self._listen(released)
            if released.is_blocked or ending.state is not TurnState.COMPLETED:
                await self._held.let_go()
            if released.is_blocked:
                await released.finish()
        if released.is_blocked:  # however it ended
            ending = replace(_BLOCKED, usage=ending.usage)
        self._told = ending.usage
        booked = await self._book.add(prepared.session, prepared.history, await self._finished(ending, released))
        self.needs_thought = self._is_thought_needed(booked)
        return booked.turn

    def _look_again(self) -> None:
        """Moderation has said something about what it was given before."""
        if self._released is not None and self._released.take(""):
            self._end_listening()

    def _end_listening(self) -> None:
        if self._listening is not None and not self._listening.expired():
            self._listening.reschedule(0.0)  # a time that has passed: the listening ends at once

    async def _listen(self, released: ReleasedReply) -> _Ending:
        try:
            async with asyncio.timeout(None) as self._listening:
                if self._stop is not None:
                    return _STOPPED[self._stop]
                return await self._hear(released)
        except TimeoutError:
            if released.is_blocked:
                return _BLOCKED
            if self._stop is None:
                raise
            return _STOPPED[self._stop]
        except TutorBroke:
            return _BROKE
        finally:
            self._listening = None

    async def _hear(self, released: ReleasedReply) -> _Ending:
        async for item in self._held.reply.items:
            match item:
                case Piece(text):
                    if released.take(text):
                        return _BLOCKED
                case ReplyEnd(finish_reason, usage):
                    await released.finish()
                    return _Ending(TurnState.COMPLETED, finish_reason, usage)
                case never:
                    assert_never(never)
        raise TutorBroke("the reply ended without an end")

    async def _finished(self, ending: _Ending, released: ReleasedReply) -> Turn:
        prepared, reply = self._prepared, released.text
        made = await outline_judgement(self._moderation, prepared.content.outline, reply)
        return Turn(
            session=prepared.session.id,
            number=self.number,
            state=ending.state,
            text=prepared.message.text,
            reply=reply,
            started_at=self._start.accepted_at,
            ended_at=self._clock.now(),
            text_tokens=prepared.text_tokens,
            reply_tokens=prepared.writer.count(reply),
            finish_reason=ending.finish_reason,
            usage=ending.usage,
            timings=self._timings(released),
            replica=self._held.reply.replica,
            continued=self._held.reply.continued > 0,
            error=ending.error,
            idempotency=self._start.idempotency,
            scene=prepared.session.scene,
            model=prepared.chosen.model,
            tier=prepared.chosen.tier,
            fell_back=prepared.chosen.fell_back,
            citations=prepared.written.background.citations,
            moderation=together((prepared.message.judgement, released.judgement, made)),
        )

    def _is_thought_needed(self, booked: BookedTurn) -> bool:
        """Also when a note came while the turn ran: it had the prompt without it, and the next one would meet a cold
        cache."""
        if booked.session is None:
            return False
        noted = booked.session.note_count != self._prepared.session.note_count
        return noted or self._prepared.is_fold_due(booked.history)

    def _timings(self, released: ReleasedReply) -> Timings:
        started, first = self._start.ticks, released.first_text_at
        return Timings(
            queue_ms=milliseconds(self._held.opened - started),
            ttft_ms=None if first is None else milliseconds(first - started),
            e2e_ms=milliseconds(self._clock.ticks() - started),
        )


def milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
