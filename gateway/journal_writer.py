"""Writes the turns of this process behind them, where other processes can read them, and tells those that watch.

Nothing here delays a turn or its readers here: a journal only notes that it has changed. One task looks at the changed
ones, some times a second: it writes a page for each, all in one step, and sends each watching process one letter with
what is new in all that it watches. A Redis that is away costs nothing but that; what was missed is written afterwards.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.domain.journal import Cancel, Head, Leave, Mode, News, Outcome, Page, Passage, Place, Watch, told
from gateway.errors import JournalUnavailable
from gateway.journal_ports import Journals, Mail
from gateway.turn_journal import TurnJournal

WATCH_S: Final = 5.0
"""Who has not said for so long that it watches does so no more."""

_QUICK_S: Final = 0.02
"""How much later others hear of what was released."""
_AWAY_S: Final = 1.0
_AGAIN_S: Final = 0.5
"""How often a quiet turn is written too, which costs next to nothing where the store still has it."""
_MOST_PAGES: Final = 256
"""In one step, which Redis does without doing anything else."""
_KEEP_ENDED_S: Final = 30.0

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Watcher:
    had: int
    until: float


@dataclass(slots=True)
class _Written:
    """One running turn, and how far others know it."""

    head: Head
    journal: TurnJournal
    stop: Callable[[], None]
    mode: Mode = Mode.OPEN
    kept: int = 0
    watchers: dict[str, _Watcher] = field(default_factory=dict)
    ended_at: float | None = None
    is_written: bool = False
    """With its end."""

    @property
    def is_quiet(self) -> bool:
        """Whether all that it has said was written."""
        return self.mode is Mode.APPEND and self.kept == self.journal.length

    def ended_before(self, moment: float) -> bool:
        return self.ended_at is not None and self.ended_at < moment

    def page(self) -> Page:
        terminal = self.journal.terminal
        since = self.kept if self.mode is Mode.APPEND else 0
        return Page(self.head, self.mode, self.journal.length, self.journal.text(since), terminal and told(terminal))

    def passage(self, had: int) -> Passage:
        head, journal = self.head, self.journal
        end = journal.terminal and told(journal.terminal)
        return Passage(head.session, head.turn, head.attempt, journal.length, journal.text(had), end)


class JournalWriter:
    def __init__(self, *, journals: Journals, mail: Mail, write_every_s: float) -> None:
        self._journals = journals
        self._mail = mail
        self._write_every_s = write_every_s
        self._turns: dict[str, _Written] = {}
        self._urgent: set[str] = set()
        self._changed: set[str] = set()
        self._untold: set[str] = set()
        self._next_write = 0.0
        self._next_look = 0.0
        self._something = asyncio.Event()
        self.failures = 0
        """How often Redis could not be asked."""

    def open(self, head: Head, journal: TurnJournal, *, stop: Callable[[], None]) -> None:
        """Write this turn until it ends; `stop` is called when it is cancelled from elsewhere."""
        self._turns[head.attempt] = _Written(head, journal, stop)
        journal.changed = partial(self._note, head.attempt)
        self._urgent.add(head.attempt)
        self._something.set()

    def is_watched(self, attempt: str) -> bool:
        """Whether another process has readers of it."""
        turn = self._turns.get(attempt)
        return turn is not None and any(_now() < watcher.until for watcher in turn.watchers.values())

    def watch(self, letter: Watch) -> None:
        for place, turn in self._of(letter.turns):
            turn.watchers[letter.sender] = _Watcher(place.had, _now() + WATCH_S)
            self._untold.add(place.attempt)
            self._something.set()

    def leave(self, letter: Leave) -> None:
        for _, turn in self._of(letter.turns):
            turn.watchers.pop(letter.sender, None)

    def cancel(self, letter: Cancel) -> None:
        turn = self._turns.get(letter.attempt)
        if turn is not None:
            turn.stop()

    async def run(self) -> None:
        while True:
            if not (self._urgent or self._changed or self._untold):
                await self._wait()
            if _now() >= self._next_look:
                self._look_after_all()
            await asyncio.sleep(_QUICK_S if await self._round(is_last=False) else _AWAY_S)

    async def _wait(self) -> None:
        self._something.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(_AGAIN_S if self._turns else None):
                await self._something.wait()

    def _look_after_all(self) -> None:
        """The store may have been emptied, and an end may be past writing."""
        self._forget(turn for turn in self._turns.values() if turn.ended_before(_now() - _KEEP_ENDED_S))
        self._changed.update(attempt for attempt, turn in self._turns.items() if turn.is_quiet)
        self._next_look = _now() + _AGAIN_S

    async def finish(self) -> None:
        """Write and tell what has not been yet."""
        while self._urgent or self._changed or self._untold:
            if not await self._round(is_last=True):
                return

    async def _round(self, *, is_last: bool) -> bool:
        """Whether it went well. One that did not is made up for by the next."""
        try:
            await self._tell()
            await self._write(is_last=is_last)
        except JournalUnavailable:
            self.failures += 1
            return False
        except Exception:  # noqa: BLE001  what is wrong with one turn must not end the writing of all others
            _log.exception("journals could not be written")
            self.failures += 1
            self._urgent, self._changed, self._untold = set(), set(), set()
            return False
        return True

    async def _tell(self) -> None:
        telling, self._untold = self._untold, set()
        try:
            for name, turns in self._watched(telling).items():
                told_to = [(turn, turn.watchers[name], turn.journal.length) for turn in turns]
                news = News(tuple(turn.passage(watcher.had) for turn, watcher, _ in told_to))
                is_there = await self._mail.send(name, news)
                for turn, watcher, length in told_to:
                    watcher.had = max(watcher.had, length)
                    if not is_there:
                        turn.watchers.pop(name, None)
        except (JournalUnavailable, asyncio.CancelledError):
            self._untold |= telling & self._turns.keys()
            raise
        self._forget(turn for turn in self._turns.values() if turn.is_written and turn.head.attempt in telling)

    def _watched(self, attempts: Iterable[str]) -> dict[str, list[_Written]]:
        """The turns that each watching process is to hear of."""
        found: dict[str, list[_Written]] = {}
        for turn in (self._turns[attempt] for attempt in attempts if attempt in self._turns):
            for name, watcher in turn.watchers.items():
                if _now() < watcher.until:
                    found.setdefault(name, []).append(turn)
        return found

    async def _write(self, *, is_last: bool) -> None:
        due = self._urgent
        if is_last or _now() >= self._next_write:
            due, self._changed = due | self._changed, set()
            self._next_write = _now() + self._write_every_s
        self._urgent = set()
        waiting = sorted(due & self._turns.keys())
        try:
            while waiting:
                await self._write_some([self._turns[attempt] for attempt in waiting[:_MOST_PAGES]])
                del waiting[:_MOST_PAGES]
        except (JournalUnavailable, asyncio.CancelledError):
            self._urgent.update(waiting)
            raise

    async def _write_some(self, turns: list[_Written]) -> None:
        pages = [turn.page() for turn in turns]
        outcomes = await self._journals.write(pages)
        for turn, page, outcome in zip(turns, pages, outcomes, strict=True):
            match outcome:
                case Outcome.KEPT:
                    turn.mode, turn.kept = Mode.APPEND, page.end
                    turn.is_written = page.terminal is not None
                    if turn.is_written and turn.head.attempt not in self._untold:
                        self._forget([turn])
                case Outcome.GONE:
                    turn.mode = Mode.AGAIN
                    self._urgent.add(turn.head.attempt)
                case Outcome.REPLACED:
                    _log.warning("another attempt has the place of a turn that runs", session=str(turn.head.session))
                    self._forget([turn])

    def _note(self, attempt: str) -> None:
        turn = self._turns.get(attempt)
        if turn is None:
            return
        self._changed.add(attempt)
        if turn.watchers:
            self._untold.add(attempt)
        if turn.journal.is_over:
            turn.ended_at = _now()
            self._urgent.add(attempt)
        self._something.set()

    def _of(self, places: Iterable[Place]) -> Iterable[tuple[Place, _Written]]:
        return [(place, self._turns[place.attempt]) for place in places if place.attempt in self._turns]

    def _forget(self, turns: Iterable[_Written]) -> None:
        for turn in list(turns):
            self._turns.pop(turn.head.attempt, None)


def _now() -> float:
    return asyncio.get_running_loop().time()
