"""A listening port that can be closed and opened again while its connections live on."""

import asyncio
import socket

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

_KEEP_ALIVE_S = 5  # vLLM's, for a connection on which nothing is asked
_BACKLOG = 2048


class Port:
    """uvicorn's protocol without uvicorn's server, whose ticking costs something on 200 idle replicas."""

    def __init__(self, app: ASGIApp, *, host: str, port: int) -> None:
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="critical",  # a connection that a fault cuts is an error to uvicorn, with a traceback
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            date_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
        )
        config.load()
        self._config = config
        self._state = ServerState()
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._is_sealed = False

    @property
    def number(self) -> int:
        """The one that was given, or the one that was found free."""
        return self._port

    async def open(self) -> None:
        if self._server is not None or self._is_sealed:
            return
        sock = socket.socket(socket.AF_INET6 if ":" in self._host else socket.AF_INET)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((self._host, self._port))
        except OSError:
            sock.close()
            raise
        self._port = sock.getsockname()[1]
        self._server = await asyncio.get_running_loop().create_server(self._protocol, sock=sock, backlog=_BACKLOG)

    def close(self) -> None:
        """New connections are refused from now on."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def seal(self) -> None:
        """Closed for good."""
        self.close()
        self._is_sealed = True

    def hang_up(self) -> None:
        """Close what is idle, and what is in use after its answer."""
        for connection in tuple(self._state.connections):
            connection.shutdown()

    async def finished(self, *, within_s: float) -> None:
        """Wait until answers that have begun are written, but not for long."""
        if tasks := tuple(self._state.tasks):
            await asyncio.wait(tasks, timeout=within_s)

    def _protocol(self) -> asyncio.Protocol:
        return HttpToolsProtocol(config=self._config, server_state=self._state, app_state={})
