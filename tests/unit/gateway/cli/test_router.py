"""`drillyard router` says in one line what cannot work, and starts with what can."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
import typer
from typer.testing import CliRunner

from gateway.cli.router import EXAMPLES, router
from tests.support.router_process import RouterProcess

ROOT = Path(__file__).parents[4]
COMMAND = [sys.executable, "-m", "gateway.cli.main", "router"]


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    for name in [name for name in os.environ if name.startswith("DRILLYARD_")]:
        monkeypatch.delenv(name)
    made = typer.Typer()
    made.command(epilog=EXAMPLES)(router)
    return made


def refused(app: typer.Typer, *arguments: str) -> list[str]:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2, done.output
    return done.stderr.splitlines()


def test_help_shows_how_it_is_called(app: typer.Typer) -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout
    assert "drillyard router --replica a=http://gpu-1:8000" in shown
    assert "--fleet-file" in shown


def test_no_example_is_wrapped(app: typer.Typer) -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).stdout
    examples = [line.strip() for line in EXAMPLES.splitlines() if line.startswith("  drillyard")]
    assert len(examples) == 6
    assert all(example in shown for example in examples)


def test_all_that_is_wrong_is_named_at_once(app: typer.Typer) -> None:
    lines = refused(app, "--set", "chunk_timeout_s=never", "--set", "bogus=1")
    assert [line.partition(": ")[2].partition(":")[0] for line in lines] == [
        "DRILLYARD_ROUTER__CHUNK_TIMEOUT_S",
        "DRILLYARD_ROUTER__BOGUS",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--replica", "http://a"), "write it as ID=URL"),
        (("--replica", "a=10.0.0.7:8000"), "--replica a=...: the url is wrong: "),
        (("--replica", "a b=http://a"), "--replica a b=...: the id is wrong: "),
        (("--set", "pin_mode"), "write it as NAME=VALUE"),
        (("--api-key-file", "/nowhere/keys"), "/nowhere/keys cannot be read: No such file"),
        (("--operator-key-file", os.devnull), "holds no key"),
        (("--host", "0.0.0.0"), "is not this machine alone"),  # noqa: S104
        (("--replica", "a=http://a", "--fleet-file", "f"), "only one can name the fleet"),
    ],
)
def test_a_wrong_word_is_told_in_one_line(app: typer.Typer, arguments: tuple[str, ...], words: str) -> None:
    (line,) = refused(app, *arguments)
    assert line.startswith("drillyard router: ")
    assert words in line


def test_a_variable_that_is_not_json_is_named(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRILLYARD_REPLICAS", '[{"id": "a"')
    assert refused(app) == ["drillyard router: DRILLYARD_REPLICAS: this is not JSON"]


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*COMMAND, "--port", port], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
        )
    assert done.returncode == 2
    assert f"port {port}" in done.stderr


def test_keys_come_from_files_and_are_shown_nowhere(tmp_path: Path) -> None:
    clients, operators = tmp_path / "clients", tmp_path / "operators"
    clients.write_text("# of the class\nclient-word\n\n")
    operators.write_text("operator-word\n")
    serving = RouterProcess(
        "--api-key-file", str(clients), "--operator-key-file", str(operators), log=tmp_path / "log", waits_for="/livez"
    )
    with serving, httpx.Client(base_url=serving.url, trust_env=False) as client:
        assert client.get("/v1/models").status_code == 401
        assert client.get("/v1/models", headers={"Authorization": "Bearer client-word"}).status_code == 200
        assert client.get("/config", headers={"Authorization": "Bearer client-word"}).status_code == 401
        shown = client.get("/config", headers={"Authorization": "Bearer operator-word"})
        assert shown.status_code == 200
        assert client.get("/readyz").json()["reason"] == "there is no replica"
        clients.write_text("another-word\n")
        serving.send(signal.SIGHUP)
        deadline = time.monotonic() + 10
        while client.get("/v1/models", headers={"Authorization": "Bearer client-word"}).status_code != 401:
            assert time.monotonic() < deadline
        assert client.get("/v1/models", headers={"Authorization": "Bearer another-word"}).status_code == 200
    assert "word" not in shown.text + (tmp_path / "log").read_text()


def test_it_ends_by_a_signal_without_complaint(tmp_path: Path) -> None:
    serving = RouterProcess(log=tmp_path / "log", waits_for="/livez")
    with serving:
        serving.send(signal.SIGTERM)
        assert serving.wait() == 0
    logged = (tmp_path / "log").read_text()
    assert "Traceback" not in logged
    assert "no list of replicas was given" in logged
