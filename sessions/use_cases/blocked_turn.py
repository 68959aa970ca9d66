"""A turn whose message was blocked: no tutor is asked, and one row tells of it.

The row has nothing of what was sent. That goes beside it, in the same transaction, for who reviews what was blocked.
"""

from collections.abc import Callable

from sessions.domain.turn import Timings, Turn, TurnState, Usage
from sessions.ports import Clock
from sessions.use_cases.open_turn import Stop, TurnStart, milliseconds
from sessions.use_cases.prepare_turn import BlockedMessage
from sessions.use_cases.turn_book import TurnBook


class BlockedTurn:
    """As an open one, for who runs it. `sent` is the message as it came."""

    needs_thought = False
    prompt_tokens = 0
    used = Usage()
    replica: None = None
    pin: None = None

    def __init__(self, *, message: BlockedMessage, sent: str, start: TurnStart, book: TurnBook, clock: Clock) -> None:
        self._message = message
        self._sent = sent
        self._start = start
        self._book = book
        self._clock = clock

    @property
    def number(self) -> int:
        return self._message.session.next_turn

    def stop(self, reason: Stop) -> None:
        """It is over already, whatever the reason."""

    async def run(self, _release: Callable[[str], None]) -> Turn:
        """Write the turn, of which nothing is released; what comes back is what is true of it in the end."""
        message = self._message
        booked = await self._book.add(message.session, message.history, self._turn(), withheld=self._sent)
        return booked.turn

    def _turn(self) -> Turn:
        message, start = self._message, self._start
        spent_ms = milliseconds(self._clock.ticks() - start.ticks)
        return Turn(
            session=message.session.id,
            number=self.number,
            state=TurnState.BLOCKED,
            text="",
            reply="",
            started_at=start.accepted_at,
            ended_at=self._clock.now(),
            text_tokens=0,
            reply_tokens=0,
            timings=Timings(queue_ms=spent_ms, e2e_ms=spent_ms),
            idempotency=start.idempotency,
            scene=message.session.scene,
            model=message.chosen.model,
            tier=message.chosen.tier,
            fell_back=message.chosen.fell_back,
            moderation=message.judgement,
        )
