import os
import signal
import socket
import stat
import time
from pathlib import Path

import pytest
from redis import Redis

from gateway.local.errors import BinaryMissing, ServiceDied
from gateway.local.redis_server import redis_server

pytestmark = pytest.mark.redis


def test_a_real_redis_answers_and_is_gone_afterwards(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server, Redis.from_url(server.url) as client:
        assert client.info("server")["process_id"] == server.pid
        assert client.config_get("save")["save"] == ""
        assert client.config_get("bind")["bind"] == "127.0.0.1"
    assert not Path(f"/proc/{server.pid}").exists()


def test_what_is_written_is_forgotten_by_default(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server, Redis.from_url(server.url) as client:
        client.set("a", "1")
    with redis_server(tmp_path) as server, Redis.from_url(server.url) as client:
        assert client.get("a") is None


def test_an_append_only_redis_keeps_its_data_even_when_it_is_killed(tmp_path: Path) -> None:
    with redis_server(tmp_path, append_only=True) as server:
        with Redis.from_url(server.url) as client:
            client.set("a", "1")
            # The log is written to disk once a second.
            while (
                client.info("persistence")["aof_pending_bio_fsync"] or client.info("persistence")["aof_buffer_length"]
            ):
                assert client.ping()
        os.kill(server.pid, signal.SIGKILL)
    with redis_server(tmp_path, append_only=True) as server, Redis.from_url(server.url) as client:
        assert client.get("a") == b"1"


def test_a_start_is_quick(tmp_path: Path) -> None:
    began = time.monotonic()
    with redis_server(tmp_path):
        assert time.monotonic() - began < 3


def test_a_taken_port_that_was_asked_for_is_told(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        pytest.raises(ServiceDied, match="redis ended"),
        redis_server(tmp_path, port=listener.getsockname()[1]),
    ):
        pass


def test_another_redis_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRILLYARD_REDIS_SERVER", "/nowhere/redis-server")
    with pytest.raises(BinaryMissing, match="/nowhere/redis-server"), redis_server(tmp_path):
        pass


def test_without_the_wheel_the_path_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BinaryMissing, match="no redis-server"), redis_server(tmp_path / "data"):
        pass
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(ServiceDied, match="exit code 3"), redis_server(tmp_path / "data"):
        pass
