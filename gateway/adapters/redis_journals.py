"""Journals in Redis: a stream for each turn, whose entries are numbered by their places in the turn's events."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, cast

from redis.asyncio import Redis
from typing_extensions import override

from gateway.adapters.lua_script import lua_script
from gateway.adapters.redis_answer import answered
from gateway.domain.journal import Head, KeptJournal, Outcome, Page
from gateway.domain.journal_words import Unreadable, read_end, read_head, written_end, written_head
from gateway.errors import JournalUnavailable
from gateway.journal_ports import Journals
from sessions.domain.events import delta_place, terminal_place
from sessions.domain.session import SessionId

_RUNNING_S: Final = 3600.0
"""No turn takes so long; each page begins it anew."""
_QUICK_S: Final = 0.25
"""What a new turn waits for at most; whether it runs elsewhere its lease tells too."""

_Entry = tuple[bytes, Mapping[bytes, bytes]]


class RedisJournals(Journals):
    """`lease_key` names what exists while a turn of the session runs; an answer after `timeout_s` counts as none."""

    def __init__(
        self, *, client: Redis, keep_s: float, lease_key: Callable[[SessionId], str], timeout_s: float = 2.0
    ) -> None:
        self._client = client
        self._lease_key = lease_key
        self._timeout_s = timeout_s
        self._kept_ms = (round(_RUNNING_S * 1000), round(keep_s * 1000))
        self._write = lua_script(client, "write_journals")

    @override
    async def write(self, pages: Sequence[Page]) -> Sequence[Outcome]:
        keys = [key for page in pages for key in (_journal(page.head.session, page.head.turn), _latest(page.head))]
        words = [word for page in pages for word in _words(page)]
        async with self._answered():
            answers = await self._write(keys=keys, args=[*self._kept_ms, *words])
        return [Outcome(answer.decode()) for answer in answers]

    @override
    async def read(self, session: SessionId, turn: int) -> KeptJournal | None:
        async with self._answered():
            entries = cast(Sequence[_Entry], await self._client.xrange(_journal(session, turn)))
        try:
            return _kept(entries)
        except Unreadable:
            return None

    @override
    async def latest(self, session: SessionId) -> Head | None:
        async with answered(min(self._timeout_s, _QUICK_S), JournalUnavailable()):
            written = cast(bytes | None, await self._client.get(f"dy:jrn:{session}"))
        try:
            return None if written is None else read_head(written)
        except Unreadable:
            return None

    @override
    async def is_running(self, session: SessionId) -> bool:
        async with self._answered():
            return bool(await self._client.exists(self._lease_key(session)))

    def _answered(self) -> AbstractAsyncContextManager[None]:
        return answered(self._timeout_s, JournalUnavailable())


def _journal(session: SessionId, turn: int) -> str:
    return f"dy:jrn:{session}:{turn}"


def _latest(head: Head) -> str:
    return f"dy:jrn:{head.session}"


def _words(page: Page) -> Iterator[str | bytes | int]:
    yield page.mode
    yield page.head.attempt
    yield written_head(page.head)
    yield delta_place(page.end)
    yield page.text
    yield terminal_place(page.end)
    yield b"" if page.terminal is None else written_end(page.terminal)


def _kept(entries: Sequence[_Entry]) -> KeptJournal | None:
    """Nothing where a part is missing. A passage may begin with what an earlier one has said."""
    head, text, end = None, "", None
    for place, fields in entries:
        if b"head" in fields:
            head = read_head(fields[b"head"])
        elif b"text" in fields:
            passage = fields[b"text"].decode()
            begin = int(place.partition(b"-")[0]) - delta_place(0) - len(passage)
            if begin > len(text):
                return None
            text += passage[len(text) - begin :]
        elif b"end" in fields:
            end = read_end(fields[b"end"])
    return None if head is None else KeptJournal(head, text, end)
