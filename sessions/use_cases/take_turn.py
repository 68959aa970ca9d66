"""Take one turn: the trainee's message in, the tutor's reply out.

Everything that can be refused is refused on entering; what happens after that is `open_turn.py`'s, or
`blocked_turn.py`'s where moderation has stopped the message.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from sessions.domain.turn import Turn
from sessions.errors import TutorFull, TutorUnavailable
from sessions.moderation_ports import Moderation
from sessions.ports import Clock, TurnLock, Tutor, TutorReply
from sessions.use_cases.blocked_turn import BlockedTurn
from sessions.use_cases.open_turn import HeldReply, OpenTurn, TurnStart
from sessions.use_cases.prepare_turn import BlockedMessage, PreparedTurn, TurnOrder, TurnPreparation
from sessions.use_cases.turn_book import TurnBook

BegunTurn = OpenTurn | BlockedTurn


class TakeTurn:
    def __init__(
        self,
        *,
        preparation: TurnPreparation,
        book: TurnBook,
        lock: TurnLock,
        tutor: Tutor,
        moderation: Moderation,
        clock: Clock,
    ) -> None:
        self._preparation = preparation
        self._book = book
        self._lock = lock
        self._tutor = tutor
        self._moderation = moderation
        self._clock = clock

    async def earlier(self, order: TurnOrder) -> Turn | None:
        """The finished turn that this order asked for before, by its key.

        A turn that failed and may be tried again is none. Raises `SessionNotFound` or `IdempotencyKeyReused`.
        """
        return await self._preparation.earlier(order)

    @asynccontextmanager
    async def begin(self, order: TurnOrder) -> AsyncIterator[BegunTurn]:
        """Hold the session's lease, ask the tutor, and hand out the turn that has begun; no tutor is asked of a message
        that is blocked.

        Raises `SessionNotFound`, `SessionClosed`, `SessionBusy`, `SessionMoved`, `TurnLimitReached`, `TextEmpty`,
        `TextTooLong`, `TutorUnavailable` (or its kinds `TutorFull`, `TutorAbsent` and `PoolUnavailable`),
        `TutorRejected`, `ModerationUnavailable` or `RecordsUnavailable`.
        """
        start = TurnStart(order.idempotency, self._clock.now(), self._clock.ticks())
        async with AsyncExitStack() as held:
            await held.enter_async_context(self._lock.hold(order.session, taken=order.lease))
            prepared = await self._preparation(order)
            if isinstance(prepared, BlockedMessage):
                yield BlockedTurn(message=prepared, sent=order.text, start=start, book=self._book, clock=self._clock)
                return
            replying = await held.enter_async_context(AsyncExitStack())
            prepared, reply = await self._asked(order, prepared, replying)
            yield OpenTurn(
                prepared=prepared,
                start=start,
                held=HeldReply(reply, self._clock.ticks(), replying.aclose),
                book=self._book,
                moderation=self._moderation,
                clock=self._clock,
            )

    async def _asked(
        self, order: TurnOrder, prepared: PreparedTurn, held: AsyncExitStack
    ) -> tuple[PreparedTurn, TutorReply]:
        """The turn as a model has taken it. A pool that turns out to be lost is stood in for at once; one that is full
        is there.
        """
        lost: list[str] = []
        while True:
            request = prepared.request(trace_parent=order.trace_parent)
            try:
                return prepared, await held.enter_async_context(self._tutor.reply(request))
            except TutorFull:
                raise
            except TutorUnavailable:
                lost.append(prepared.chosen.model)
                if not await self._preparation.has_stand_in(prepared, lost=lost):
                    raise
            prepared = await self._preparation.elsewhere(order, prepared, lost=lost)
