"""`drillyard worker`: what it refuses before it begins. Its work is proven in tests/faults/test_jobs.py."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Command

ROOT = Path(__file__).parents[3]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("DRILLYARD_REDIS_URL", "redis://127.0.0.1:1")
    monkeypatch.setenv("DRILLYARD_DATABASE_URL", "postgresql://127.0.0.1:1/none")
    monkeypatch.setenv("DRILLYARD_MODEL__NAME", "smollm2")
    monkeypatch.setenv("DRILLYARD_MODEL__FOLDER", str(tmp_path / "none"))
    return monkeypatch


def test_settings_that_cannot_work_are_named(drillyard: Command, told: pytest.MonkeyPatch) -> None:
    told.setenv("DRILLYARD_JOBS__LEASE_S", "-1")
    ended = drillyard("worker")
    assert (ended.code, "DRILLYARD_JOBS__LEASE_S" in ended.err) == (1, True)


def test_a_worker_without_work_is_refused(drillyard: Command, told: pytest.MonkeyPatch) -> None:
    told.setenv("DRILLYARD_JOBS__WORKERS", "0")
    ended = drillyard("worker")
    assert (ended.code, "DRILLYARD_JOBS__WORKERS is 0" in ended.err) == (1, True)


def test_a_model_that_is_not_there_is_named(told: pytest.MonkeyPatch) -> None:
    """In a process of its own, since a command that goes so far sets up the log."""
    assert told is not None
    command = [sys.executable, "-m", "gateway.cli.main", "worker"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "tokenizer" in done.stderr.splitlines()[-1]


def test_help_shows_an_example(drillyard: Command) -> None:
    shown = drillyard("worker", "--help")
    assert (shown.code, "drillyard worker" in shown.out) == (0, True)
