"""A real Postgres on loopback: a cluster in a folder, passwords only, no Unix socket, a database of our own."""

import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql

from gateway.local.children import Children, Service
from gateway.local.postgres_cluster import SUPERUSER, Cluster, plain_environment, prepared
from gateway.local.process import Command

DATABASE = "drillyard"
_HOST = "127.0.0.1"
_PROBE_S = 3


@dataclass(frozen=True, slots=True)
class PostgresServer:
    url: str = field(repr=False)
    pid: int


@contextmanager
def postgres_server(
    folder: Path, *, port: int = 0, fsync: bool = True, keep: bool | None = None, children: Children | None = None
) -> Iterator[PostgresServer]:
    """Run Postgres with its files in `folder` (or, for root, where an unprivileged account can reach them).

    `fsync` off is for tests: quick, and the cluster is removed at the end unless `keep` says otherwise.
    """
    family = children or Children()
    log = folder.resolve() / "postgres.log"
    cluster = prepared(folder, log=log, fsync=fsync, children=family)
    try:
        with family.serving(lambda on: postgres_service(cluster, port=on, log=log, fsync=fsync), port=port) as up:
            child, chosen = up
            yield PostgresServer(url=postgres_url(cluster, chosen), pid=child.pid)
    finally:
        if not (fsync if keep is None else keep):
            remove(cluster, folder.resolve())


def postgres_url(cluster: Cluster, port: int, database: str = DATABASE) -> str:
    return f"postgresql+psycopg://{SUPERUSER}:{cluster.password}@{_HOST}:{port}/{database}"


def postgres_service(cluster: Cluster, *, port: int, log: Path, fsync: bool = True) -> Service:
    settings = {
        "listen_addresses": _HOST,
        "port": str(port),
        "unix_socket_directories": "",
        "shared_buffers": "64MB",
        # In files of the cluster, where the next start removes what a killed server left; /dev/shm would keep it.
        "dynamic_shared_memory_type": "mmap",
        "max_connections": "200",
        "timezone": "UTC",
        "log_timezone": "UTC",
        # Commits still reach the kernel, so a killed server loses nothing; only a machine that loses power would.
        **({} if fsync else {"fsync": "off", "full_page_writes": "off"}),
    }
    command = Command(
        name="postgres",
        argv=(
            str(cluster.programs / "postgres"),
            "-D",
            str(cluster.data),
            *(word for key, value in settings.items() for word in ("-c", f"{key}={value}")),
        ),
        log=log,
        env=plain_environment(),
        cwd=cluster.home,
        account=cluster.account,
        stop_signal=signal.SIGINT,  # "fast": ends open transactions; SIGTERM would wait for every client to leave
        grace_s=20.0,
    )
    return Service(command=command, waiting_for=lambda: _missing(cluster, port))


def remove(cluster: Cluster, folder: Path) -> None:
    shutil.rmtree(cluster.data, ignore_errors=True)
    (cluster.home / "password").unlink(missing_ok=True)
    if cluster.home != folder:
        shutil.rmtree(cluster.home, ignore_errors=True)


def _missing(cluster: Cluster, port: int) -> str | None:
    """Ready means: it answers, and our database is there."""
    try:
        with psycopg.connect(
            host=_HOST,
            port=port,
            user=SUPERUSER,
            password=cluster.password,
            dbname="postgres",
            connect_timeout=_PROBE_S,
            autocommit=True,
        ) as connection:
            known = connection.execute("select 1 from pg_database where datname = %s", (DATABASE,)).fetchone()
            if known is None:
                connection.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))
    except psycopg.OperationalError as error:
        return str(error).strip().splitlines()[-1]
    return None
