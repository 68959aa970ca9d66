"""A turn that has begun: hear the tutor out, then write one row.

Nothing is acknowledged before the turn's row and its outbox entry are committed. The lease keeps two turns of a
session apart; should it be lost, the session's version still lets only one of them be written.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from sessions.domain.turn import IdempotencyKey, Timings, Turn, TurnError, TurnState, Usage
from sessions.errors import TutorBroke
from sessions.ports import Clock, Piece, ReplyEnd, TutorReply
from sessions.use_cases.prepare_turn import PreparedTurn
from sessions.use_cases.turn_book import BookedTurn, TurnBook


class Stop(StrEnum):
    """Why a running turn is stopped from outside."""

    CANCELLED = "cancelled"
    SHUTDOWN = "shutdown"


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """What is known of a turn before its reply: how it was prepared, the message, and when both clocks saw it
    accepted."""

    prepared: PreparedTurn
    text: str
    idempotency: IdempotencyKey | None
    accepted_at: datetime
    started: float

    @property
    def number(self) -> int:
        return self.prepared.session.next_turn


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


class OpenTurn:
    """Run it once. `stop` ends it from outside, with what was released until then."""

    def __init__(
        self,
        *,
        draft: TurnDraft,
        reply: TutorReply,
        opened: float,
        book: TurnBook,
        clock: Clock,
    ) -> None:
        self._draft = draft
        self._reply = reply
        self._opened = opened
        self._book = book
        self._clock = clock
        self._pieces: list[str] = []
        self._first_text: float | None = None
        self._stop: Stop | None = None
        self._listening: asyncio.Timeout | None = None
        self._told = Usage()
        self.needs_thought = False
        """Once it has run: whether the session is to be compacted, or made warm again, while its trainee thinks."""

    @property
    def number(self) -> int:
        return self._draft.number

    @property
    def prompt_tokens(self) -> int:
        """What we counted in the whole prompt."""
        return self._draft.prepared.written.prompt_tokens

    @property
    def used(self) -> Usage:
        """Tokens so far: as the engine counted them or, where it has told nothing, as we do."""
        if self._told != Usage():
            return self._told
        generated = self._draft.prepared.writer.count("".join(self._pieces))
        return Usage(prompt_tokens=self.prompt_tokens, completion_tokens=generated)

    @property
    def replica(self) -> str:
        return self._reply.replica

    @property
    def pin(self) -> str:
        return self._reply.pin

    def stop(self, reason: Stop) -> None:
        """End the reply now; the first reason counts. Nothing once the reply has ended."""
        if self._stop is None:
            self._stop = reason
            if self._listening is not None:
                self._listening.reschedule(0.0)  # a time that has passed: the listening ends at once

    async def run(self, release: Callable[[str], None]) -> Turn:
        """Release the reply piece by piece and write the turn; what comes back is what is true of it in the end."""
        ending = await self._listen(release)
        self._told = ending.usage
        prepared = self._draft.prepared
        booked = await self._book.add(prepared.session, prepared.history, self._finished(ending))
        self.needs_thought = self._is_thought_needed(booked)
        return booked.turn

    async def _listen(self, release: Callable[[str], None]) -> _Ending:
        try:
            async with asyncio.timeout(None) as self._listening:
                if self._stop is not None:
                    return _STOPPED[self._stop]
                return await self._hear(release)
        except TimeoutError:
            if self._stop is None:
                raise
            return _STOPPED[self._stop]
        except TutorBroke:
            return _BROKE
        finally:
            self._listening = None

    async def _hear(self, release: Callable[[str], None]) -> _Ending:
        async for item in self._reply.items:
            match item:
                case Piece(text):
                    if self._first_text is None:
                        self._first_text = self._clock.ticks()
                    self._pieces.append(text)
                    release(text)
                case ReplyEnd(finish_reason, usage):
                    return _Ending(TurnState.COMPLETED, finish_reason, usage)
                case never:
                    assert_never(never)
        raise TutorBroke("the reply ended without an end")

    def _finished(self, ending: _Ending) -> Turn:
        draft, prepared, reply = self._draft, self._draft.prepared, "".join(self._pieces)
        return Turn(
            session=prepared.session.id,
            number=draft.number,
            state=ending.state,
            text=draft.text,
            reply=reply,
            started_at=draft.accepted_at,
            ended_at=self._clock.now(),
            text_tokens=prepared.text_tokens,
            reply_tokens=prepared.writer.count(reply),
            finish_reason=ending.finish_reason,
            usage=ending.usage,
            timings=self._timings(),
            replica=self._reply.replica,
            continued=self._reply.continued > 0,
            error=ending.error,
            idempotency=draft.idempotency,
            scene=prepared.session.scene,
            model=prepared.chosen.model,
            tier=prepared.chosen.tier,
            fell_back=prepared.chosen.fell_back,
            citations=prepared.written.background.citations,
        )

    def _is_thought_needed(self, booked: BookedTurn) -> bool:
        """Also when a note came while the turn ran: it had the prompt without it, and the next one would meet a cold
        cache."""
        if booked.session is None:
            return False
        noted = booked.session.note_count != self._draft.prepared.session.note_count
        return noted or self._draft.prepared.is_fold_due(booked.history)

    def _timings(self) -> Timings:
        started = self._draft.started
        return Timings(
            queue_ms=_milliseconds(self._opened - started),
            ttft_ms=None if self._first_text is None else _milliseconds(self._first_text - started),
            e2e_ms=_milliseconds(self._clock.ticks() - started),
        )


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
