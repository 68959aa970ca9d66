"""A line to a server that can be cut at any moment, as when its machine is gone, and mended."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.support.loopback_server import a_server_that

_AT_ONCE = 1 << 16
_RESET = struct.pack("ii", 1, 0)


class CutLine:
    """Passes bytes to and fro; a cut one resets its connections and every new one."""

    def __init__(self, *, port: int) -> None:
        self.url = ""
        self.is_cut = False
        self._port = port
        self._ends: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        self.is_cut = True
        for end in tuple(self._ends):
            _reset(end)

    def mend(self) -> None:
        self.is_cut = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            return _reset(writer)
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self._ends |= {writer, back}
        try:
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        finally:
            self._ends -= {writer, back}
            back.transport.abort()
        return None

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_AT_ONCE):
                writer.write(data)
                await writer.drain()
        writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()


@asynccontextmanager
async def cut_line(port: int) -> AsyncIterator[CutLine]:
    line = CutLine(port=port)
    async with a_server_that(line.serve) as server:
        line.url = server.url
        yield line
