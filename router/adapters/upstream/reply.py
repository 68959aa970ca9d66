"""One answer as it arrives: written by its connection, read by one taker."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from router.adapters.upstream.alarm import Alarm
from router.adapters.upstream.errors import AnswerBroken, OutOfPatience, UpstreamError
from router.domain.patience import Patience

Headers = list[tuple[bytes, bytes]]


class Line(Protocol):
    """The connection, as far as a reply needs it."""

    def resume(self) -> None:
        """What was unread has been taken; go on reading."""

    def abort(self) -> None:
        """Cut it; nothing more is wanted."""


class Reply:
    """Bytes gather until they are read, so that what arrived together leaves together.

    It lets go of the line once the answer has ended, failed or been closed; what had come before that can still be
    read. A wait ends with the answer's next sign of life or with the patience.
    """

    __slots__ = (
        "_alarm", "_failure", "_line", "_loop", "_patience", "_pieces", "_short_cut", "_waiter",
        "headers", "status", "unread",
    )  # fmt: skip

    def __init__(self, *, line: Line, patience: Patience, loop: asyncio.AbstractEventLoop, alarm: Alarm) -> None:
        self.status = 0
        """0 until the head has come."""
        self.headers: Headers = []
        """Their names are in lower case."""
        self.unread = 0
        self._line: Line | None = line
        self._patience = patience
        self._loop = loop
        self._pieces: list[bytes] = []
        self._failure: UpstreamError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._short_cut: Callable[[bytes], bool] | None = None
        self._alarm = alarm
        alarm.serve(self._rang)

    def begin(self, status: int, headers: Headers) -> None:
        self.status = status
        self.headers = headers
        self._patience.was_answered()
        self._wake()

    def add(self, data: bytes) -> None:
        """Told by `arrived`, `finish` or `fail` when that is all for now."""
        self._pieces.append(data)
        self.unread += len(data)

    def arrived(self) -> None:
        """What was added is to be taken: past the taker if it waits and there is a short cut, else by waking it."""
        waiter, pieces, take = self._waiter, self._pieces, self._short_cut
        if waiter is None or not pieces:
            return
        if take is None or waiter.done():
            self._wake()
            return
        data = pieces[0] if len(pieces) == 1 else self._joined()
        if take(data):
            self._had(data)
            self._alarm.set(self._patience.deadline(self._loop.time()))
        else:
            self._wake()

    def finish(self) -> None:
        self._let_go()

    def fail(self, error: UpstreamError) -> None:
        if self._line is not None:
            self._failure = error
            self._let_go()

    def header(self, name: bytes) -> bytes:
        """The first of that name, which is in lower case; empty if there is none."""
        for key, value in self.headers:
            if key == name:
                return value
        return b""

    async def answered(self) -> None:
        """Return once the head has come."""
        while not self.status:
            await self._sign_of_life()

    async def read(self) -> bytes:
        """The body's next bytes, all that have come; empty at its end."""
        while not self._pieces:
            if self._line is None and self._failure is None:
                return b""
            await self._sign_of_life()
        data = self._joined()
        self._had(data)
        return data

    def short_cut(self, take: Callable[[bytes], bool] | None) -> None:
        """Offer what arrives while somebody waits to `take`; what it takes is read. None: no longer."""
        self._short_cut = take

    def close(self) -> None:
        """Want nothing more; cuts the connection unless the answer has ended. Twice is nothing."""
        if self._line is not None:
            self._line.abort()
            self.fail(AnswerBroken("the answer was closed before its end"))
        self._pieces.clear()

    def give_up(self, asked_before: float) -> None:
        """Time out, unless its own limits will end the wait."""
        if self._line is not None and self._patience.is_blind_since(asked_before):
            self._line.abort()
            self.fail(OutOfPatience("no answer, and its replica has not been ready for a while"))

    def _joined(self) -> bytes:
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0]

    def _had(self, data: bytes) -> None:
        """All that was there is taken."""
        self._pieces.clear()
        self.unread = 0
        self._patience.had(data)
        if self._line is not None:
            self._line.resume()

    async def _sign_of_life(self) -> None:
        if self._failure is not None:
            # A new one each time: an exception that is kept keeps the frames it passed.
            raise type(self._failure)(*self._failure.args)
        self._alarm.set(self._patience.deadline(self._loop.time()))
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _let_go(self) -> None:
        if self._line is not None:
            self._line = None
            self._alarm.rest()
        self._short_cut = None
        self._wake()

    def _rang(self) -> None:
        now = self._loop.time()
        if self._waiter is None and now < self._patience.end:
            # Nobody waits. The next wait sets the alarm itself; only the whole must have its end.
            self._alarm.set(self._patience.end)
        elif self._line is not None:
            self._line.abort()
            self.fail(OutOfPatience(self._patience.complaint(now)))
