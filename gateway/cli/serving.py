"""What the serving commands share: the listening socket, and a server that tells the work it carries when to stop."""

import asyncio
import errno
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import structlog
import uvicorn
from structlog.typing import FilteringBoundLogger
from typing_extensions import override
from uvicorn.config import STARTUP_FAILURE

from gateway.cli.failure import CommandFailed

_BACKLOG = 2048
_LAST_BYTES_S = 5.0
_MOST_FILES = 65_536
_SAME_SIGNAL_S = 0.5
"""A terminal and whoever started us may both pass one on."""

_log: FilteringBoundLogger = structlog.get_logger(__name__)


def listening(host: str, port: int, *, advice: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason, _, _ = (error.strerror or str(error)).partition(" (")
        is_of_port = error.errno in {errno.EADDRINUSE, errno.EACCES}
        raise CommandFailed(
            f"cannot listen on {host} port {port}: {reason}", advice=advice if is_of_port else None
        ) from error


def allow_many_files() -> None:
    """Each connection is an open file, on both sides of a router; the usual limit is 1,024, and may be raised by us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # a system may have a limit of its own below what it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class StoppableServer(uvicorn.Server):
    """Tells of the signal, since what is running decides how soon the connections that read it end.

    The signal sets `leaving` at once. For `pause_s` everything goes on, so that balancers can look elsewhere; then
    `stopping` is set and nobody is let in any more. A second signal ends the process on the spot.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        stopping: asyncio.Event,
        *,
        handshake_s: float = 10.0,
        leaving: asyncio.Event | None = None,
        pause_s: float = 0.0,
    ) -> None:
        super().__init__(config)
        self._stopping = stopping
        self._handshake_s = handshake_s
        self._leaving = leaving or stopping
        self._pause_s = pause_s
        self._told_at: float | None = None

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As the original does it with sockets, and with bounds on how long a client may take to greet and to part."""
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            sys.exit(STARTUP_FAILURE)
        loop, tls = asyncio.get_running_loop(), self.config.ssl
        self.servers = [
            await loop.create_server(
                self._protocol,
                sock=listener,
                ssl=tls,
                backlog=_BACKLOG,
                ssl_handshake_timeout=self._handshake_s if tls else None,
                ssl_shutdown_timeout=_LAST_BYTES_S if tls else None,
            )
            for listener in sockets or ()
        ]
        self.started = True

    def _protocol(self) -> asyncio.Protocol:
        protocol: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        return protocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    @override
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # The original raises the signal once more when serving ends, which would end the process before what is held
        # for longer than a request is closed.
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    @override
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        loop = asyncio.get_running_loop()
        if self._told_at is None:
            self._told_at = loop.time()
            self._leaving.set()
            loop.call_later(self._pause_s, self._stop, sig, frame)
        elif loop.time() - self._told_at > _SAME_SIGNAL_S:
            _log.warning("ended by a second signal")
            os._exit(0)

    def _stop(self, sig: int, frame: FrameType | None) -> None:
        self._stopping.set()
        super().handle_exit(sig, frame)
