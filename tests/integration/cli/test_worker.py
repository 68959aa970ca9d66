"""`drillyard worker`: what it refuses before it begins. Its work is proven in tests/faults/test_jobs.py."""

from pathlib import Path

import pytest

from tests.integration.cli.conftest import Command


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


def test_a_model_that_is_not_there_is_named(drillyard: Command, told: pytest.MonkeyPatch) -> None:
    assert told is not None
    ended = drillyard("worker")
    assert ended.code == 1
    assert "tokenizer" in ended.err


def test_help_shows_an_example(drillyard: Command) -> None:
    shown = drillyard("worker", "--help")
    assert (shown.code, "drillyard worker" in shown.out) == (0, True)
