"""The pieces that the serving commands share."""

import asyncio
import resource
import signal
import socket

import pytest
import uvicorn

from gateway.cli.failure import CommandFailed
from gateway.cli.serving import StoppableServer, allow_many_files, listening


def test_a_port_that_is_taken_is_told_with_advice() -> None:
    with listening("127.0.0.1", 0, advice="") as first:
        port = first.getsockname()[1]
        with pytest.raises(CommandFailed, match=f"cannot listen on 127.0.0.1 port {port}: .*; take another"):
            listening("127.0.0.1", port, advice="take another")


def test_an_address_that_is_not_ours_is_told_without_advice_on_ports() -> None:
    with pytest.raises(CommandFailed) as failed:
        listening("203.0.113.7", 0, advice="take another")
    assert str(failed.value) == "cannot listen on 203.0.113.7 port 0: Cannot assign requested address"


def test_an_address_with_colons_is_ipv6() -> None:
    with listening("::1", 0, advice="") as listener:
        assert listener.family is socket.AF_INET6


def test_as_many_files_are_opened_as_may_be() -> None:
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    try:
        allow_many_files()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (min(hard, 65_536), hard)
        allow_many_files()  # enough is enough
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))


async def test_a_signal_is_told_at_once() -> None:
    stopping = asyncio.Event()
    server = StoppableServer(uvicorn.Config("nothing:here"), stopping)
    with server.capture_signals():
        signal.raise_signal(signal.SIGTERM)
        await asyncio.wait_for(stopping.wait(), 5)
    assert server.should_exit
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().remove_signal_handler(number)
