"""One `up` from its lock to its last stopped child: what others find, and what a kill leaves."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typing_extensions import override

from gateway.local import process_table
from gateway.local.free_port import free_port
from tests.integration.local.conftest import Up

pytestmark = [pytest.mark.redis, pytest.mark.postgres]


def test_others_find_everything_in_the_ready_files(up: Up) -> None:
    process = up.start("vllm")
    up.until_ready()
    ready = up.ready
    assert up.ready_file.read_text() == (up.data / "ready.json").read_text()
    assert up.ready_file.stat().st_mode & 0o777 == 0o600
    assert set(ready) == {
        "base_url", "tenant", "keys", "scenarios", "replicas", "redis_url", "database_url", "pids", "log_dir"
    }  # fmt: skip
    assert set(ready["pids"]) == {"redis", "postgres", "gateway", "replica-1", "replica-2"}
    assert all(Path(f"/proc/{pid}").exists() for pid in ready["pids"].values())
    assert str(ready["log_dir"]) == str(up.data / "logs")
    temporary = up.temporary
    assert len(list(temporary.iterdir())) == 2
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert not temporary.exists()
    assert not up.ready_file.exists()
    assert not (up.data / "ready.json").exists()


def test_what_dies_is_started_again_and_the_ready_file_says_so(up: Up) -> None:
    up.start("vllm")
    up.until_ready()
    before = up.ready["pids"]
    for name in ("gateway", "replica-2", "redis", "postgres"):
        os.kill(before[name], signal.SIGKILL)
    up.until(lambda: all(up.ready["pids"].get(name, pid) != pid for name, pid in before.items() if name != "replica-1"))
    assert up.ready["pids"]["replica-1"] == before["replica-1"]
    assert "gateway ended (signal 9); starting it again in 0.5 s" in up.said
    up.until(lambda: all(f"{name} is up again" in up.said for name in before if name != "replica-1"))


def test_a_killed_up_leaves_nothing_that_the_next_start_does_not_end(up: Up) -> None:
    process = up.start("vllm")
    up.until_ready()
    before, temporary = up.ready["pids"], up.temporary
    process.kill()
    process.wait(30)
    up.start("vllm")
    up.until_ready()
    assert not temporary.exists()
    assert up.temporary.exists()
    assert not set(up.ready["pids"].values()) & set(before.values())
    # An init that is slow to collect the dead leaves them in the table for a while; they hold nothing.
    living = {one.pid for one in process_table.living()}
    assert not {name for name, pid in before.items() if pid in living}


def test_the_second_up_on_one_folder_says_who_is_first(up: Up) -> None:
    first = up.start()
    up.until_ready()
    url = up.ready["base_url"]
    second = up.start()
    assert second.wait(30) == 1
    assert f"already running as pid {first.pid} at {url}" in up.said
    assert first.poll() is None
    assert up.ready_file.exists()


def test_a_taken_port_is_told_before_anything_is_started(up: Up) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert up.start(FAKE_PORT=str(port)).wait(30) == 1
    assert f"PortTaken: port {port}" in up.said
    assert "Redis" not in up.said


@contextmanager
def another_server(up: Up) -> Iterator[int]:
    """Takes the port after the gateway was promised it; answers as a second demo's gateway would."""
    log = up.data / "logs" / "migrate.log"
    up.until(log.exists)
    up.until(lambda: log.read_text().endswith(".\n"))
    port = int(log.read_text().split()[-1].rstrip("."))
    with ThreadingHTTPServer(("127.0.0.1", port), Another) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        (up.folder / "go").touch()
        yield port
        server.shutdown()
        thread.join()


class Another(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"status": "ok", "instance": "theirs"}')

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_port_that_went_to_another_server_meanwhile_is_given_up_for_a_free_one(up: Up) -> None:
    up.start(FAKE_MIGRATE="until-told", FAKE_GO=str(up.folder / "go"))
    with another_server(up) as port:
        up.until_ready()
        url = str(up.ready["base_url"])
    assert not url.endswith(f":{port}")
    assert f"port {port} was taken meanwhile; using {url.rpartition(':')[2]}" in up.said


def test_a_port_that_was_asked_for_and_lost_is_an_error_that_names_the_option(up: Up) -> None:
    process = up.start(FAKE_MIGRATE="until-told", FAKE_GO=str(up.folder / "go"), FAKE_PORT=str(free_port()))
    with another_server(up) as port:
        assert process.wait(60) == 1
    assert f"failed: PortTaken: port {port}" in up.said
    assert "--port" in up.said
    assert "ready at" not in up.said


@pytest.mark.parametrize(("name", "why"), [("blocked/ready.json", "cannot be made"), (".", "is a folder")])
def test_a_ready_file_that_cannot_be_written_is_told_before_anything_is_started(up: Up, name: str, why: str) -> None:
    (up.folder / "blocked").touch()
    process = up.start(FAKE_READY=str(up.folder / name))
    assert process.wait(30) == 1
    assert "--ready-file" in up.said
    assert why in up.said
    assert "Redis" not in up.said


def test_a_file_of_ours_that_cannot_be_used_is_one_line(up: Up) -> None:
    (up.data / "run" / "lock").mkdir(parents=True)
    assert up.start().wait(30) == 1
    (line,) = up.said.splitlines()
    assert f"{up.data / 'run' / 'lock'}: Is a directory" in line
