"""A line to a server that can be slow, or cut at any moment, as when its machine is gone, and mended."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from tests.support.loopback_server import a_server_that

_AT_ONCE = 1 << 16
_END_OF_EVENT = b"}\n\n"
_RESET = struct.pack("ii", 1, 0)


class CutLine:
    """Passes bytes to and fro; a cut one resets its connections and every new one.

    Where a reply is lost can be said by its events, however fast the server is and whoever is late to read.
    """

    def __init__(self, *, port: int) -> None:
        self.url = ""
        self.is_cut = False
        self.delay_s = 0.0
        """How long each answer is on its way."""
        self._port = port
        self._events = 0
        self._then: Callable[[], None] | None = None
        self._ends: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        self.is_cut = True
        for end in tuple(self._ends):
            _reset(end)

    def mend(self) -> None:
        self.is_cut = False

    def pass_only(self, events: int, then: Callable[[], None]) -> None:
        """Call `then` once so many events have passed; what comes behind them on that connection does not pass."""
        self._events, self._then = events, then

    def pass_all(self) -> None:
        self._then = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            return _reset(writer)
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self._ends |= {writer, back}
        try:
            await asyncio.gather(self._ask(reader, back), self._answer(there, writer))
        finally:
            self._ends -= {writer, back}
            back.transport.abort()
        return None

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_AT_ONCE):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_AT_ONCE):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                writer.write(self._allowed(data))
                await writer.drain()
                if self._then is not None and self._events == 0:
                    then, self._then = self._then, None
                    then()
                    await reader.read()
        writer.close()

    def _allowed(self, data: bytes) -> bytes:
        """What of it may pass."""
        if self._then is None:
            return data
        *events, rest = data.split(_END_OF_EVENT)
        allowed = events[: self._events]
        self._events -= len(allowed)
        return b"".join(event + _END_OF_EVENT for event in allowed) + (rest if self._events else b"")


def _reset(writer: asyncio.StreamWriter) -> None:
    end: socket.socket = writer.get_extra_info("socket")
    if end.fileno() >= 0:  # it may have been closed by its other side at this very moment
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()


@asynccontextmanager
async def cut_line(port: int) -> AsyncIterator[CutLine]:
    line = CutLine(port=port)
    async with a_server_that(line.serve) as server:
        line.url = server.url
        yield line
