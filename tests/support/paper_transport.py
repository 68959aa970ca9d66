"""A transport for tests of protocols: nothing leaves it."""

import asyncio

from typing_extensions import override


class PaperTransport(asyncio.Transport):
    """Keeps what is done to it; the loss that follows an abort is told at once."""

    def __init__(self) -> None:
        super().__init__()
        self.protocol: asyncio.Protocol | None = None
        self.written = b""
        self.unsent = 0
        self.is_paused = False
        self.is_gone = False

    def carry(self, protocol: asyncio.Protocol) -> None:
        self.protocol = protocol
        protocol.connection_made(self)

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    @override
    def get_write_buffer_size(self) -> int:
        return self.unsent

    @override
    def is_closing(self) -> bool:
        return self.is_gone

    @override
    def pause_reading(self) -> None:
        self.is_paused = True

    @override
    def resume_reading(self) -> None:
        self.is_paused = False

    @override
    def abort(self) -> None:
        self.lose(None)

    def lose(self, cause: Exception | None) -> None:
        if not self.is_gone and self.protocol is not None:
            self.is_gone = True
            self.protocol.connection_lost(cause)
