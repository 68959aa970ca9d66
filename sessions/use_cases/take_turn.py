"""Take one turn: the trainee's message in, the tutor's reply out.

Everything that can be refused is refused on entering; what happens after that is `open_turn.py`'s.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from sessions.domain.turn import Turn
from sessions.errors import TutorFull, TutorUnavailable
from sessions.ports import Clock, TurnLock, Tutor, TutorReply
from sessions.use_cases.open_turn import OpenTurn, TurnDraft
from sessions.use_cases.prepare_turn import PreparedTurn, TurnOrder, TurnPreparation
from sessions.use_cases.turn_book import TurnBook


class TakeTurn:
    def __init__(
        self, *, preparation: TurnPreparation, book: TurnBook, lock: TurnLock, tutor: Tutor, clock: Clock
    ) -> None:
        self._preparation = preparation
        self._book = book
        self._lock = lock
        self._tutor = tutor
        self._clock = clock

    async def earlier(self, order: TurnOrder) -> Turn | None:
        """The finished turn that this order asked for before, by its key.

        A turn that failed and may be tried again is none. Raises `SessionNotFound` or `IdempotencyKeyReused`.
        """
        return await self._preparation.earlier(order)

    @asynccontextmanager
    async def begin(self, order: TurnOrder) -> AsyncIterator[OpenTurn]:
        """Hold the session's lease, ask the tutor, and hand out the turn that has begun.

        Raises `SessionNotFound`, `SessionClosed`, `SessionBusy`, `SessionMoved`, `TurnLimitReached`, `TextEmpty`,
        `TextTooLong`, `TutorUnavailable` (or its kinds `TutorFull`, `TutorAbsent` and `PoolUnavailable`),
        `TutorRejected` or `RecordsUnavailable`.
        """
        accepted, started = self._clock.now(), self._clock.ticks()
        async with AsyncExitStack() as held:
            await held.enter_async_context(self._lock.hold(order.session, taken=order.lease))
            prepared, reply = await self._asked(order, held)
            yield OpenTurn(
                draft=TurnDraft(
                    prepared=prepared,
                    text=order.text,
                    idempotency=order.idempotency,
                    accepted_at=accepted,
                    started=started,
                ),
                reply=reply,
                opened=self._clock.ticks(),
                book=self._book,
                clock=self._clock,
            )

    async def _asked(self, order: TurnOrder, held: AsyncExitStack) -> tuple[PreparedTurn, TutorReply]:
        """The turn as a model has taken it. A pool that turns out to be lost is stood in for at once; one that is full
        is there.
        """
        lost: list[str] = []
        while True:
            prepared = await self._preparation(order, lost=lost)
            request = prepared.request(trace_parent=order.trace_parent)
            try:
                return prepared, await held.enter_async_context(self._tutor.reply(request))
            except TutorFull:
                raise
            except TutorUnavailable:
                lost.append(prepared.chosen.model)
                if not await self._preparation.has_stand_in(prepared, lost=lost):
                    raise
