"""Turns of other processes that have readers in this one.

Of each there is one journal here, whatever the number of its readers. It begins with what the running process has left
in Redis and grows by the letters that it sends, as long as we say that we watch. Letters may be lost: a turn that stays
silent is looked up again, first in Redis, and once its process and its lease are gone, in the record.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.domain.journal import TURN_LOST, Cancel, Head, KeptJournal, Leave, News, Place, Watch, heard
from gateway.errors import JournalUnavailable
from gateway.journal_ports import Journals, Mail
from gateway.turn_journal import TurnJournal
from gateway.turn_reader import TurnReader
from sessions.domain.events import Accepted, Done, Failed, Terminal, TurnEvent, terminal
from sessions.domain.session import SessionId
from sessions.domain.turn import Turn
from sessions.domain.viewer import Viewer
from sessions.errors import SessionsError, TurnNotFound
from sessions.use_cases.read_turn import ReadTurn

_log: FilteringBoundLogger = structlog.get_logger(__name__)

CHECK_S: Final = 1.0
_QUIET_ROUNDS: Final = 2
"""A turn of which nothing was heard for so many checks is looked up."""
_LOST_ROUNDS: Final = 3
"""A process that is there, but connects anew, must not be taken for a lost one."""
_PATIENT_ROUNDS: Final = 60
"""Of a turn that nobody can tell of any more, neither its process nor the record."""
_AWAY_ROUNDS: Final = 5
_LOOKS: Final = 20
_LOOK_S: Final = 0.1


@dataclass(slots=True)
class _Followed:
    head: Head
    viewer: Viewer
    """One who may see the session, for whom the record is asked."""
    journal: TurnJournal
    is_heard: bool = True
    """Whether a letter has told of it since the last round."""
    quiet_rounds: int = 0
    lost_rounds: int = 0
    unknown_rounds: int = 0

    @property
    def place(self) -> Place:
        return Place(self.head.session, self.head.turn, self.head.attempt, self.journal.length)

    def take(self, end: int, text: str, terminal: Terminal | None) -> bool:
        """Whether it could be joined on."""
        is_joined = self.journal.add_until(end, text)
        if is_joined and terminal is not None:
            self.journal.end(heard(terminal, self.journal.text()))
        return is_joined

    def finish(self, turn: Turn) -> None:
        """By what the record has under its number, unless that is another attempt."""
        said = self.journal.text()
        if not turn.reply.startswith(said):
            self.journal.end(TURN_LOST)
            return
        self.journal.add(turn.reply[len(said) :])
        self.journal.end(terminal(turn))


class FollowedTurns:
    """`name` is this process as others write to it."""

    def __init__(
        self, *, name: str, journals: Journals, mail: Mail, read_turn: ReadTurn, check_s: float = CHECK_S
    ) -> None:
        self._name = name
        self._journals = journals
        self._mail = mail
        self._read_turn = read_turn
        self._check_s = check_s
        self._turns: dict[str, _Followed] = {}
        self._rounds_away = 0

    @property
    def count(self) -> int:
        return len(self._turns)

    async def find(
        self, viewer: Viewer, session: SessionId, number: int, *, was_read: bool = False
    ) -> TurnReader | None:
        """A turn that another process runs, or has run just now, for one who may see the session and says that he has
        read it already, or not. Raises `JournalUnavailable`.
        """
        kept = await self._kept(session, number, was_read=was_read)
        return None if kept is None else await self._reader(viewer, kept)

    async def join(self, viewer: Viewer, head: Head, text: str) -> TurnReader | None:
        """This attempt, for who has asked for it with this text; none when its process is gone, or when it has failed
        and may be tried again. Raises `JournalUnavailable`.
        """
        kept = await self._journals.read(head.session, head.turn)
        if kept is None or kept.head.attempt != head.attempt or not await self._is_worth_joining(kept):
            return None
        reader = await self._reader(viewer, kept)
        return replace(reader, follow=partial(_with_text, reader, text))

    async def cancel(self, session: SessionId, number: int) -> bool:
        """Whether it has ended just now, or its process was told to stop it.

        Raises `JournalUnavailable`, also when it may run and its process cannot be reached now.
        """
        kept = await self._kept(session, number)
        if kept is None:
            return False
        letter = Cancel(session, number, kept.head.attempt)
        if kept.terminal is not None or await self._mail.send(kept.head.owner, letter):
            return True
        if await self._journals.is_running(session):
            raise JournalUnavailable
        return False

    def hear(self, news: News) -> None:
        for passage in news.passages:
            followed = self._turns.get(passage.attempt)
            if followed is not None:
                followed.is_heard = followed.take(passage.end, passage.text, passage.terminal)

    def stop(self) -> None:
        """Let all readers go; they can read on at another process."""
        for followed in self._turns.values():
            followed.journal.cut()
        self._turns.clear()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._check_s)
            try:
                await self._check()
                self._rounds_away = 0
            except JournalUnavailable:
                self._rounds_away += 1
                if self._rounds_away >= _AWAY_ROUNDS:
                    self.stop()
            except Exception:  # noqa: BLE001  what is wrong with one turn must not end the following of all others
                _log.exception("followed turns could not be looked after")

    async def _kept(self, session: SessionId, number: int, *, was_read: bool = False) -> KeptJournal | None:
        """What is kept of a turn. One that may have begun just now is waited for, since its first page follows it, and
        so is one that was there: Redis may have been emptied, and with it the lease, and is filled again soon.
        """
        for _ in range(_LOOKS):
            kept = await self._journals.read(session, number)
            if kept is not None or not (was_read or await self._journals.is_running(session)):
                return kept
            latest = await self._journals.latest(session)
            if latest is not None and latest.turn not in (number - 1, number):
                return None
            await asyncio.sleep(_LOOK_S)
        return None

    async def _is_worth_joining(self, kept: KeptJournal) -> bool:
        match kept.terminal:
            case None:
                return await self._mail.send(kept.head.owner, Watch(self._name, ()))
            case Failed(error):
                return not error.retryable
            case _:
                return True

    async def _reader(self, viewer: Viewer, kept: KeptJournal) -> TurnReader:
        head = kept.head
        followed = self._turns.get(head.attempt) or _followed(viewer, head)
        followed.take(len(kept.text), kept.text, kept.terminal)
        if not followed.journal.is_over:
            self._turns[head.attempt] = followed
            await self._mail.send(head.owner, Watch(self._name, (followed.place,)))
        return TurnReader(head.turn, head.replica, head.pin, partial(self._follow, followed))

    async def _follow(self, followed: _Followed, after: int) -> AsyncGenerator[tuple[int, TurnEvent], None]:
        if not followed.journal.is_over:  # it may have been left out for want of readers before the first one came
            followed = self._turns.setdefault(followed.head.attempt, followed)
        async with aclosing(followed.journal.follow(after)) as events:
            async for event in events:
                yield event

    async def _check(self) -> None:
        left = [each for each in self._turns.values() if each.journal.readers == 0 or each.journal.is_over]
        for each in left:
            del self._turns[each.head.attempt]
        for owner, turns in _by_owner(each for each in left if not each.journal.is_over).items():
            await self._mail.send(owner, Leave(self._name, tuple(each.place for each in turns)))
        for owner, turns in _by_owner(self._turns.values()).items():
            is_there = await self._mail.send(owner, Watch(self._name, tuple(each.place for each in turns)))
            for each in turns:
                await self._look_after(each, is_there=is_there)

    async def _look_after(self, followed: _Followed, *, is_there: bool) -> None:
        """One that is silent, or whose process is gone, may have ended, or be lost."""
        followed.quiet_rounds = 0 if followed.is_heard else followed.quiet_rounds + 1
        followed.is_heard = False
        if is_there and followed.quiet_rounds < _QUIET_ROUNDS:
            followed.lost_rounds = followed.unknown_rounds = 0
            return
        head = followed.head
        kept = await self._journals.read(head.session, head.turn)
        is_replaced = kept is not None and kept.head.attempt != head.attempt
        if kept is not None and not is_replaced:
            followed.take(len(kept.text), kept.text, kept.terminal)
        if followed.journal.is_over:
            return
        is_held = await self._journals.is_running(head.session)
        if is_replaced or not is_held:
            followed.lost_rounds = 0 if is_there else followed.lost_rounds + 1
            followed.unknown_rounds += 1
            await self._ask_the_record(followed, is_lost=is_replaced or followed.lost_rounds >= _LOST_ROUNDS)

    async def _ask_the_record(self, followed: _Followed, *, is_lost: bool) -> None:
        head = followed.head
        is_over_patience = followed.unknown_rounds >= _PATIENT_ROUNDS
        try:
            followed.finish(await self._read_turn(followed.viewer, head.session, head.turn))
        except TurnNotFound:
            if is_lost or is_over_patience:
                followed.journal.end(TURN_LOST)
        except SessionsError:
            if is_over_patience:
                followed.journal.cut()


def _followed(viewer: Viewer, head: Head) -> _Followed:
    journal = TurnJournal(Accepted(head.session, head.turn, head.replica))
    journal.may_lag = True
    return _Followed(head, viewer, journal)


def _by_owner(turns: Iterable[_Followed]) -> dict[str, list[_Followed]]:
    found: dict[str, list[_Followed]] = {}
    for each in turns:
        found.setdefault(each.head.owner, []).append(each)
    return found


async def _with_text(reader: TurnReader, text: str, after: int) -> AsyncGenerator[tuple[int, TurnEvent], None]:
    """The trainee's words come from who asks again: no journal has them, but for masked ones."""
    async with aclosing(reader.events(after)) as events:
        async for place, event in events:
            yield place, Done(replace(event.turn, text=event.turn.text or text)) if isinstance(event, Done) else event
