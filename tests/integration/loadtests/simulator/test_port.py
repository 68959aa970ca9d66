"""A port that closes and opens while its connections live on."""

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from loadtests.simulator.port import Port


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("hello")(scope, receive, send)


async def ask(client: httpx.AsyncClient, port: Port) -> str:
    return (await client.get(f"http://127.0.0.1:{port.number}/")).text


async def test_a_closed_port_refuses_and_its_open_connections_live_on() -> None:
    port = Port(hello, host="127.0.0.1", port=0)
    await port.open()
    await port.open()
    async with httpx.AsyncClient(trust_env=False) as kept:
        assert await ask(kept, port) == "hello"
        port.close()
        port.close()
        assert await ask(kept, port) == "hello"
        async with httpx.AsyncClient(trust_env=False) as another:
            with pytest.raises(httpx.ConnectError):
                await ask(another, port)
            await port.open()
            assert await ask(another, port) == "hello"
        port.seal()
        port.hang_up()
        await port.finished(within_s=1)
        await port.open()
        with pytest.raises(httpx.TransportError):
            await ask(kept, port)


async def test_a_port_that_is_taken_is_an_error() -> None:
    first = Port(hello, host="127.0.0.1", port=0)
    await first.open()
    with pytest.raises(OSError, match="in use"):
        await Port(hello, host="127.0.0.1", port=first.number).open()
    first.seal()
