import os
import signal
import time
from pathlib import Path

import psycopg
import pytest

from gateway.local import process_table
from gateway.local.children import Children
from gateway.local.errors import StopAsked
from gateway.local.postgres_server import PostgresServer, postgres_server
from gateway.local.stop_signal import StopSignal

pytestmark = pytest.mark.postgres


def connected(server: PostgresServer) -> psycopg.Connection:
    return psycopg.connect(server.url.replace("+psycopg", ""), autocommit=True)


def test_a_real_postgres_answers_and_leaves_nothing_behind(tmp_path: Path) -> None:
    began = time.monotonic()
    with postgres_server(tmp_path / "pg", fsync=False) as server:
        assert time.monotonic() - began < 30
        with connected(server) as connection:
            row = connection.execute(
                "select current_database(), current_setting('server_encoding'), lower('ÄÖ'), "
                "current_setting('listen_addresses'), current_setting('unix_socket_directories'), "
                "current_setting('dynamic_shared_memory_type')"
            ).fetchone()
    assert row == ("drillyard", "UTF8", "äö", "127.0.0.1", "", "mmap")
    assert not Path(f"/proc/{server.pid}").exists()
    assert {file.name for file in (tmp_path / "pg").iterdir()} <= {"postgres.log", "the-cluster-lies-in"}


def test_a_wrong_password_is_refused(tmp_path: Path) -> None:
    with postgres_server(tmp_path, fsync=False) as server:
        start, _, rest = server.url.replace("+psycopg", "").partition("@")
        scheme_and_user, _, password = start.rpartition(":")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(f"{scheme_and_user}:wrong@{rest}")
    assert len(password) > 20
    assert password not in repr(server)


def test_data_and_address_book_survive_a_restart(tmp_path: Path) -> None:
    with postgres_server(tmp_path, fsync=False, keep=True) as server, connected(server) as connection:
        connection.execute("create table kept as select 1 as one")
    began = time.monotonic()
    with postgres_server(tmp_path, fsync=False) as server, connected(server) as connection:
        assert time.monotonic() - began < 10
        assert connection.execute("select one from kept").fetchone() == (1,)


def test_a_killed_postgres_starts_again_with_its_data(tmp_path: Path) -> None:
    with postgres_server(tmp_path, fsync=False, keep=True) as server:
        with connected(server) as connection:
            connection.execute("create table kept as select 1 as one")
        os.kill(server.pid, signal.SIGKILL)
    with postgres_server(tmp_path, fsync=False) as server, connected(server) as connection:
        assert connection.execute("select one from kept").fetchone() == (1,)


def test_an_open_connection_does_not_hold_up_the_stop(tmp_path: Path) -> None:
    with postgres_server(tmp_path, fsync=False) as server:
        connection = connected(server)
        connection.execute("begin")
        began = time.monotonic()
    assert time.monotonic() - began < 10
    connection.close()


def watched(folder: Path, children: Children) -> None:
    with postgres_server(folder, fsync=False, keep=True, children=children) as server:
        while process_table.entry(server.pid) is not None:
            children.checkpoint()


def test_a_stop_during_the_first_start_leaves_no_half_cluster(tmp_path: Path) -> None:
    with StopSignal() as stop:
        before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        children = Children(stop=stop)
        with pytest.raises(StopAsked):
            watched(tmp_path, children)
        signal.signal(signal.SIGALRM, before)
        assert children.running == ()
    with postgres_server(tmp_path, fsync=False) as server, connected(server) as connection:
        assert connection.execute("select 1").fetchone() == (1,)
