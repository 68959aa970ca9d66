"""The spool of one process: in memory, and in a file where it is given one."""

import asyncio
from collections.abc import Sequence

from typing_extensions import override

from sessions.adapters.spool_file import SpoolFile
from sessions.adapters.stored_spooled import packed
from sessions.domain.session import SessionId
from sessions.domain.spooled import SpooledTurn
from sessions.errors import RecordsUnavailable, SessionMoved
from sessions.spool_ports import TurnSpool

_Place = tuple[SessionId, int]


class LocalTurnSpool(TurnSpool):
    """Without a `file` what waits when the process ends is lost."""

    def __init__(self, *, most_turns: int, most_bytes: int, file: SpoolFile | None = None) -> None:
        self._most_turns = most_turns
        self._most_bytes = most_bytes
        self._file = file
        self._one_by_one = asyncio.Lock()
        self._kept: dict[_Place, tuple[SpooledTurn, int]] = {}
        self._bytes = 0
        self.aside: list[SpooledTurn] = []
        for spooled in () if file is None else file.found:
            self._keep(spooled, len(packed(spooled)))

    @property
    def count(self) -> int:
        return len(self._kept)

    @override
    async def put(self, spooled: SpooledTurn) -> None:
        async with self._one_by_one:
            there = self._kept.get(_place(spooled))
            if there is None:
                await self._add(spooled)
            elif there[0] != spooled:
                raise SessionMoved(f"turn {spooled.turn.number} of session {spooled.session.id} waits already")

    @override
    async def of(self, session: SessionId) -> Sequence[SpooledTurn]:
        found = [spooled for (of, _), (spooled, _) in self._kept.items() if of == session]
        return sorted(found, key=lambda one: one.turn.number)

    @override
    async def waiting(self, *, limit: int) -> Sequence[SessionId]:
        return list(dict.fromkeys(session for session, _ in self._kept))[:limit]

    @override
    async def remove(self, spooled: SpooledTurn) -> None:
        async with self._one_by_one:
            kept = self._kept.pop(_place(spooled), None)
            if kept is None:
                return
            self._bytes -= kept[1]
            if self._file is not None:
                await asyncio.to_thread(self._file.take_out, spooled, is_last=not self._kept)

    @override
    async def set_aside(self, spooled: SpooledTurn) -> None:
        if _place(spooled) not in self._kept:
            return
        self.aside.append(spooled)
        if self._file is not None:
            await asyncio.to_thread(self._file.set_aside, spooled)
        await self.remove(spooled)

    async def _add(self, spooled: SpooledTurn) -> None:
        size = len(packed(spooled))
        if len(self._kept) >= self._most_turns or self._bytes + size > self._most_bytes:
            raise RecordsUnavailable("the spool of this process is full")
        if self._file is not None:
            try:
                await asyncio.to_thread(self._file.add, spooled)
            except OSError as error:
                raise RecordsUnavailable("the spool's file cannot be written") from error
        self._keep(spooled, size)

    def _keep(self, spooled: SpooledTurn, size: int) -> None:
        self._kept[_place(spooled)] = spooled, size
        self._bytes += size


def _place(spooled: SpooledTurn) -> _Place:
    return spooled.session.id, spooled.turn.number
