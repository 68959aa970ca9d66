"""A server that answers each path with what it was given, and remembers what it was asked; the rest is 404."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

USAGE = {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 0}}
ANSWER: dict[str, object] = {"choices": [{"index": 0, "finish_reason": "length"}], "usage": USAGE}
METRICS = 'vllm:num_requests_running{engine="0"} 2.0\nvllm:cache_config_info{enable_prefix_caching="True"} 1.0\n'


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class StubEngine:
    """A sound vLLM until `answers` says otherwise; a path in `silent` is never answered."""

    port: int = 0
    answers: dict[str, tuple[int, object]] = field(
        default_factory=lambda: {
            "/health": (200, b""),
            "/v1/models": (200, {"data": [{"id": "m", "max_model_len": 4096}]}),
            "/version": (200, {"version": "0.32.0"}),
            "/metrics": (200, METRICS.encode()),
            "/tokenize": (200, {"count": 12}),
            "/v1/chat/completions": (200, ANSWER),
        }
    )
    silent: set[str] = field(default_factory=set)
    asked: list[Asked] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [each.path for each in self.asked]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                asked = await _read(reader)
                self.asked.append(asked)
                if asked.path in self.silent:
                    await asyncio.Event().wait()
                writer.write(_written(*self.answers.get(asked.path, (404, {"detail": "Not Found"}))))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, path, headers, body)


def _written(status: int, body: object) -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(content), content)


@asynccontextmanager
async def stub_engine() -> AsyncIterator[StubEngine]:
    stub, group = StubEngine(), set[asyncio.Task[None]]()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        group.add(asyncio.ensure_future(stub.serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    stub.port = server.sockets[0].getsockname()[1]
    try:
        yield stub
    finally:
        server.close()
        for task in group:
            task.cancel()
        await asyncio.gather(*group, return_exceptions=True)
        await server.wait_closed()
