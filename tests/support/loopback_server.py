"""Small servers on loopback that do exactly what a test says, well or badly."""

import asyncio
import ssl
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Answers = Callable[[StreamReader, StreamWriter], Awaitable[None]]

# A connection that was made just before the end is still being handed over; this many turns of the loop are plenty.
_LAST_TURNS = 10


class LoopbackServer:
    """One server that is running; `open` of the `connections` made so far have not ended."""

    def __init__(self, answers: Answers) -> None:
        self.url = ""
        self.connections = 0
        self.open = 0
        self._answers = answers
        self._tasks = set[asyncio.Task[None]]()
        self._writers: list[StreamWriter] = []

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.append(writer)
        self.connections += 1
        self.open += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
                await self._answers(reader, writer)
        finally:
            self.open -= 1
            writer.close()
            self._tasks.discard(task)

    async def end(self) -> None:
        for _ in range(_LAST_TURNS):
            for task in self._tasks:
                task.cancel()
            for writer in self._writers:
                writer.transport.abort()
            await asyncio.sleep(0)


@asynccontextmanager
async def a_server_that(
    answers: Answers, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[LoopbackServer]:
    """Each connection is handed to `answers` and closed when it returns; what it still does is ended at the end."""
    served = LoopbackServer(answers)
    server = await asyncio.start_server(served.serve, host, 0, ssl=tls, limit=1 << 22, backlog=1024)
    port = server.sockets[0].getsockname()[1]
    served.url = f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
    try:
        yield served
    finally:
        # Accepting must be over before the server closes: the loop forgets a socket that it accepts for a closed one.
        await served.end()
        server.close()
        await served.end()


async def one_request(reader: StreamReader) -> tuple[bytes, bytes]:
    """The head and the body of the next request."""
    head = await reader.readuntil(b"\r\n\r\n")
    _, _, length = head.lower().partition(b"content-length: ")
    return head, await reader.readexactly(int(length.split(b"\r\n")[0]))


def always(answer: bytes) -> Answers:
    """Give this answer to each request."""

    async def answers(reader: StreamReader, writer: StreamWriter) -> None:
        while True:
            await one_request(reader)
            writer.write(answer)
            await writer.drain()

    return answers


async def until(holds: Callable[[], bool], what: str, *, within_s: float = 5.0) -> None:
    """Return once it holds; `what` says what is wrong if it never does."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, what
        await asyncio.sleep(0.005)
