"""`drillyard serve` starts with settings that can work, and says in one line why it does not with others."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.local.redis_server import RedisServer
from tests.support.engine_process import EngineProcess
from tests.support.tiny_model import tiny_model

ROOT = Path(__file__).parents[3]


@pytest.fixture
def environment(tmp_path: Path, database_url: str, running_redis: RedisServer) -> Mapping[str, str]:
    return {
        **os.environ,
        "DRILLYARD_REDIS_URL": running_redis.url,
        "DRILLYARD_DATABASE_URL": database_url,
        "DRILLYARD_MODEL__NAME": "smollm2",
        "DRILLYARD_MODEL__FOLDER": str(tiny_model(tmp_path / "model")),
        "DRILLYARD_PORT": "0",
    }


def refused(environment: Mapping[str, str]) -> str:
    """The one line on standard error that is not a log line."""
    command = [sys.executable, "-m", "gateway.cli.main", "serve"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    return line


def test_missing_settings_are_all_named_at_once() -> None:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("DRILLYARD_")}
    line = refused(bare)
    for variable in ("DRILLYARD_REDIS_URL", "DRILLYARD_DATABASE_URL", "DRILLYARD_MODEL"):
        assert variable in line


def test_a_window_without_room_is_refused_with_the_arithmetic(environment: Mapping[str, str]) -> None:
    line = refused({**environment, "DRILLYARD_MODEL__WINDOW_TOKENS": "1024"})
    assert "system 500 + script 1000" in line


def test_a_folder_without_a_tokenizer_is_refused(environment: Mapping[str, str], tmp_path: Path) -> None:
    line = refused({**environment, "DRILLYARD_MODEL__FOLDER": str(tmp_path)})
    assert "tokenizer_config.json is missing" in line


def test_a_certificate_that_is_not_there_is_named(environment: Mapping[str, str], tmp_path: Path) -> None:
    files = {"DRILLYARD_TLS__CERTIFICATE": str(tmp_path / "none.pem"), "DRILLYARD_TLS__KEY": str(tmp_path / "none.key")}
    assert "none.pem: No such file or directory" in refused({**environment, **files})


def test_a_taken_port_is_named(environment: Mapping[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = refused({**environment, "DRILLYARD_PORT": str(port)})
    assert f"port {port}" in line


def test_replicas_that_count_tokens_otherwise_are_refused(
    environment: Mapping[str, str], engine: EngineProcess
) -> None:
    """The scripted engine counts words here, which no tokenizer does."""
    replicas = json.dumps([{"id": "replica-1", "url": engine.url}])
    line = refused({**environment, "DRILLYARD_REPLICAS": replicas})
    assert "another tokenizer or chat template" in line
