"""What the processes know of each other's turns: ours for the others, theirs for our callers."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, assert_never

from gateway.domain.journal import Cancel, Head, Leave, Letter, News, Watch, digested
from gateway.errors import JournalUnavailable
from gateway.followed_turns import FollowedTurns
from gateway.journal_ports import Journals, Mail
from gateway.journal_writer import JournalWriter
from gateway.turn_journal import TurnJournal
from gateway.turn_reader import TurnReader
from sessions.domain.session import SessionId
from sessions.domain.viewer import Viewer
from sessions.use_cases.open_turn import Stop
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.take_turn import BegunTurn

_LAST_WORDS_S: Final = 2.0


class SharedTurns:
    """`name` is this process as others write to it. Its work is done while `running` is entered."""

    def __init__(
        self, *, name: str, journals: Journals, mail: Mail, writer: JournalWriter, followed: FollowedTurns
    ) -> None:
        self._name = name
        self._journals = journals
        self._mail = mail
        self._writer = writer
        self._followed = followed

    @property
    def followed(self) -> int:
        """Turns of other processes that have readers here."""
        return self._followed.count

    @property
    def failures(self) -> int:
        return self._writer.failures

    def tell(self, order: TurnOrder, turn: BegunTurn, journal: TurnJournal) -> str:
        """Let other processes know of a turn that has begun here; the attempt's name."""
        attempt = secrets.token_hex(8)
        key = digested(order.idempotency)
        head = Head(order.session, turn.number, attempt, self._name, turn.replica, turn.pin, key)
        self._writer.open(head, journal, stop=partial(turn.stop, Stop.CANCELLED))
        return attempt

    def is_watched(self, attempt: str) -> bool:
        """Whether another process has readers of it."""
        return self._writer.is_watched(attempt)

    async def join(self, order: TurnOrder) -> TurnReader | None:
        """The turn that another process runs under the order's own key; raises `IdempotencyKeyReused`.

        For one who may see the session. While nobody can tell there is none: the session's lease decides then.
        """
        key = digested(order.idempotency)
        if key is None:
            return None
        try:
            head = await self._journals.latest(order.session)
            if head is None or head.owner == self._name or not head.idempotency or not key.repeats(head.idempotency):
                return None
            return await self._followed.join(order.viewer, head, order.text)
        except JournalUnavailable:
            return None

    async def find(
        self, viewer: Viewer, session: SessionId, number: int, *, was_read: bool = False
    ) -> TurnReader | None:
        """A turn that another process runs, for one who may see the session; raises `JournalUnavailable`."""
        return await self._followed.find(viewer, session, number, was_read=was_read)

    async def cancel(self, session: SessionId, number: int) -> bool:
        """Whether another process runs the turn, and was told to stop it; raises `JournalUnavailable`."""
        return await self._followed.cancel(session, number)

    def stop(self) -> None:
        """Let go who reads a turn of another process here."""
        self._followed.stop()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            works = (self._writer.run(), self._followed.run(), self._read_mail())
            tasks = [group.create_task(work) for work in works]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
        try:
            async with asyncio.timeout(_LAST_WORDS_S):
                await self._writer.finish()
        except TimeoutError:
            return

    async def _read_mail(self) -> None:
        async for letter in self._mail.letters():
            self._take(letter)

    def _take(self, letter: Letter) -> None:
        match letter:
            case Watch():
                self._writer.watch(letter)
            case Leave():
                self._writer.leave(letter)
            case Cancel():
                self._writer.cancel(letter)
            case News():
                self._followed.hear(letter)
            case never:
                assert_never(never)
