"""Journals and letters within one process, for any number of gateways in it."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from typing_extensions import override

from gateway.domain.journal import Head, KeptJournal, Letter, Mode, Outcome, Page
from gateway.errors import JournalUnavailable
from gateway.journal_ports import Journals, Mail
from sessions.domain.session import SessionId


class MemoryJournals(Journals):
    """While `away` nobody can be asked. `leases` are the sessions whose turn runs."""

    def __init__(self) -> None:
        self._kept: dict[tuple[SessionId, int], KeptJournal] = {}
        self._latest: dict[SessionId, Head] = {}
        self.leases: set[SessionId] = set()
        self.away = False

    def flush(self) -> None:
        self._kept.clear()
        self._latest.clear()

    @override
    async def write(self, pages: Sequence[Page]) -> Sequence[Outcome]:
        self._ask()
        return [self._write(page) for page in pages]

    @override
    async def read(self, session: SessionId, turn: int) -> KeptJournal | None:
        self._ask()
        return self._kept.get((session, turn))

    @override
    async def latest(self, session: SessionId) -> Head | None:
        self._ask()
        return self._latest.get(session)

    @override
    async def is_running(self, session: SessionId) -> bool:
        self._ask()
        return session in self.leases

    def _write(self, page: Page) -> Outcome:
        head, place = page.head, (page.head.session, page.head.turn)
        there = self._kept.get(place) if page.mode is not Mode.OPEN else None
        if there is None and page.mode is Mode.APPEND:
            return Outcome.GONE
        if there is not None and there.head.attempt != head.attempt:
            return Outcome.REPLACED
        if there is None:
            self._latest[head.session] = head
        had, end = ("", None) if there is None else (there.text, there.terminal)
        new = page.text[max(0, len(had) - (page.end - len(page.text))) :]
        self._kept[place] = KeptJournal(head, had + new, page.terminal or end)
        return Outcome.KEPT

    def _ask(self) -> None:
        if self.away:
            raise JournalUnavailable


class MemoryMail(Mail):
    """One letter box in a house of them, which all share `boxes`."""

    def __init__(self, *, name: str, boxes: dict[str, "asyncio.Queue[Letter]"]) -> None:
        self._name = name
        self._boxes = boxes
        self.away = False

    @override
    async def send(self, to: str, letter: Letter) -> bool:
        if self.away:
            raise JournalUnavailable
        box = self._boxes.get(to)
        if box is not None:
            box.put_nowait(letter)
        return box is not None

    @override
    async def letters(self) -> AsyncIterator[Letter]:
        box = self._boxes[self._name] = asyncio.Queue[Letter]()
        try:
            while True:
                yield await box.get()
        finally:
            del self._boxes[self._name]
