"""Locust plays a class against the real gateway, ends by itself, and its exit code is the verdict."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.gateway_process import World, world

ROOT = Path(__file__).parents[3]


@pytest.fixture
def installation(tmp_path: Path, database_url: str) -> Iterator[World]:
    with world(tmp_path, database_url, engines=2) as made:
        yield made


def locust(installation: World, tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    ready = {
        "base_url": installation.gateway.url,
        "keys": {"trainees": list(installation.seed.keys.trainees)},
        "scenarios": [{"id": installation.seed.scenarios[0].id}],
    }
    (tmp_path / "ready.json").write_text(json.dumps(ready))
    command = [sys.executable, "-m", "locust", "-f", "loadtests/locustfile.py", "--headless", "--data", str(tmp_path)]
    return subprocess.run(
        [*command, "--spawn-rate", "100", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )


def test_a_class_plays_and_every_turn_is_in_the_rows(installation: World, tmp_path: Path) -> None:
    for engine in installation.engines.values():
        engine.script(reply="one two three four five", delay_s=0.01)
    rows_file = tmp_path / "rows.jsonl"
    done = locust(installation, tmp_path, "--users", "4", "--turns", "3", "--think", "0.05", "--rows", str(rows_file))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 turns, 0 failed" in done.stdout
    rows = [json.loads(row) for row in rows_file.read_text().splitlines()]
    assert sorted(row["turn"] for row in rows) == [1] * 4 + [2] * 4 + [3] * 4
    assert all(row["ttft_s"] < row["last_text_s"] <= row["total_s"] for row in rows)
    assert all(row["intended_s"] <= row["started_s"] for row in rows)
    homes = {row["session"]: {other["replica"] for other in rows if other["session"] == row["session"]} for row in rows}
    assert len(homes) == 4
    assert all(len(replicas) == 1 for replicas in homes.values())
    with installation.client(installation.seed.keys.instructor) as client:
        states = {session["state"] for session in client.get("/v1/sessions").json()["items"]}
    assert states == {"closed"}


def test_a_turn_that_breaks_fails_the_run(installation: World, tmp_path: Path) -> None:
    for engine in installation.engines.values():
        engine.script(reply="one two three four five", fault="cut", after_chunks=2, times=1)
    done = locust(installation, tmp_path, "--users", "2", "--turns", "2", "--think", "0")
    assert done.returncode == 1
    assert "'tutor_broke': " in done.stdout


def test_a_foreign_host_is_refused_before_anything_is_sent(installation: World, tmp_path: Path) -> None:
    done = locust(installation, tmp_path, "--users", "1", "--host", "http://192.0.2.1")
    assert done.returncode == 2
    assert "192.0.2.1 is not this machine" in done.stderr
