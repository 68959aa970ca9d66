"""The pieces that the serving commands share."""

import asyncio
import signal
import socket

import pytest
import uvicorn

from gateway.cli.failure import CommandFailed
from gateway.cli.serving import StoppableServer, listening


def test_a_port_that_is_taken_is_told_with_advice() -> None:
    with listening("127.0.0.1", 0, advice="") as first:
        port = first.getsockname()[1]
        with pytest.raises(CommandFailed, match=f"cannot listen on 127.0.0.1 port {port}: .*; take another"):
            listening("127.0.0.1", port, advice="take another")


def test_an_address_with_colons_is_ipv6() -> None:
    with listening("::1", 0, advice="") as listener:
        assert listener.family is socket.AF_INET6


async def test_a_signal_is_told_at_once() -> None:
    stopping = asyncio.Event()
    server = StoppableServer(uvicorn.Config("nothing:here"), stopping)
    with server.capture_signals():
        signal.raise_signal(signal.SIGTERM)
        await asyncio.wait_for(stopping.wait(), 5)
    assert server.should_exit
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().remove_signal_handler(number)
