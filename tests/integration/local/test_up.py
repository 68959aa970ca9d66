"""The command itself: its help, its refusals, and what it tells a person."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gateway.cli.failure import CommandFailed
from gateway.cli.main import build_app
from gateway.local.calendar_pool import ByCalendar
from gateway.local.errors import LocalStackError, PortTaken
from gateway.local.preparation import ReplicaKind
from gateway.local.ready_file import Ready, ReadyReplica
from gateway.local.run_stack import Run
from gateway.local.seed import Keys, Seed, SeedScenario

READY = Ready(
    base_url="http://127.0.0.1:8080",
    seed=Seed(
        tenant="sample",
        keys=Keys(operator="op-key", instructor="in-key", service="sv-key", trainees=("tr-key",)),
        scenarios=(SeedScenario("s", "en"),),
    ),
    replicas=(ReadyReplica("replica-1", "http://127.0.0.1:1", 42, "vllm"),),
    redis_url="redis://r",
    database_url="postgresql://d",
    pids={},
    log_dir=Path("/data/logs"),
)


def invoked(*words: str) -> Result:
    return CliRunner().invoke(build_app(), ["up", *words])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that were asked for, none of which is really begun."""
    runs: list[Run] = []

    def pretend(run: Run) -> bool:
        runs.append(run)
        kind = run.options.replica_kind
        run.announce(READY if kind is ReplicaKind.VLLM else replace(READY, replicas=()))
        return True

    monkeypatch.setattr("gateway.cli.up.run_stack", pretend)
    return runs


def test_the_defaults_are_two_replicas_and_a_folder_beside_us(asked: list[Run]) -> None:
    result = invoked()
    assert result.exit_code == 0, result.output
    (run,) = asked
    assert (run.options.replica_kind, run.options.replicas, run.options.window_tokens) == ("vllm", 2, 4096)
    assert (run.options.host, run.options.port, run.data) == ("127.0.0.1", None, Path(".drillyard"))


def test_a_person_gets_addresses_keys_and_the_next_command(asked: list[Run]) -> None:
    output = invoked("--data", "/elsewhere").output
    assert len(asked) == 1
    words = ("http://127.0.0.1:8080", "tenant          sample", "/data/logs", "tr-key", "in-key", "op-key")
    assert not [word for word in words if word not in output]
    assert "chat --data /elsewhere\n" in output
    assert "sv-key" not in output


def test_nobody_is_sent_to_talk_where_no_replica_is(asked: list[Run]) -> None:
    output = invoked("--replica-kind", "none").output
    assert len(asked) == 1
    assert "Drillyard is ready" in output
    assert "Try it" not in output


def test_by_the_calendar_a_person_is_told_how_to_plan_a_class(asked: list[Run]) -> None:
    output = invoked("--by-calendar", "--replica-kind", "sim", "--replicas", "4", "--seats", "6", "--lead", "10").output
    (run,) = asked
    assert run.options.replicas == 4
    assert run.options.by_calendar == ByCalendar(seats=6, lead_s=600.0)
    assert "No replica runs before a class needs it." in output
    assert "drill add --scenario en --in 4m" in output


def test_the_help_names_every_option_and_an_example() -> None:
    output = CliRunner().invoke(build_app(), ["up", "--help"], env={"COLUMNS": "160"}).output
    options = ("replica-kind", "replicas", "model", "data", "port", "host", "ready-file", "window", "vllm-env")
    assert not [option for option in options if f"--{option}" not in output]
    assert "Example" in output


@pytest.mark.parametrize("words", [["--replica-kind", "cuda"], ["--replicas", "0"], ["--port", "70000"]])
def test_nonsense_is_refused_before_anything_starts(asked: list[Run], words: list[str]) -> None:
    assert invoked(*words).exit_code == 2
    assert asked == []


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PortTaken("port 1 is taken", hint="stop what uses it"), "port 1 is taken; stop what uses it"),
        (LocalStackError("it broke", hint="try again", log=Path("/l")), "it broke; try again; log: /l"),
        (LocalStackError("it broke"), "it broke"),
    ],
)
def test_a_failure_is_one_line(monkeypatch: pytest.MonkeyPatch, error: LocalStackError, line: str) -> None:
    def fail(_: Run) -> bool:
        raise error

    monkeypatch.setattr("gateway.cli.up.run_stack", fail)
    result = invoked()
    assert isinstance(result.exception, CommandFailed)
    assert str(result.exception) == line


def test_a_stop_before_all_was_up_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.cli.up.run_stack", lambda _: False)
    assert invoked().exit_code == 130


def _environment(cache: Path) -> Mapping[str, str]:
    return {**os.environ, "DRILLYARD_CACHE": str(cache), "DRILLYARD_REDIS_SERVER": "/nowhere/redis-server"}


def test_the_program_ends_with_a_code_and_a_line_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()
    words = ["up", "--replica-kind", "none", "--data", str(tmp_path / "data"), "--model", str(tmp_path)]
    result = subprocess.run(
        [sys.executable, "-m", "gateway.cli.main", *words],
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("drillyard: redis cannot be started")
    assert str(tmp_path / "data" / "logs" / "redis.log") in line
