"""Starting in order, and stopping from every state, with real signals and real servers."""

import signal
import time
from pathlib import Path

import psycopg
import pytest

from tests.integration.local.conftest import Up

pytestmark = [pytest.mark.redis, pytest.mark.postgres]


@pytest.mark.parametrize(
    ("kind", "variables", "words"),
    [
        ("none", {"FAKE_MIGRATE": "hang"}, "preparing the database"),
        ("none", {"FAKE_SEED": "hang"}, "preparing the database"),
        ("none", {"FAKE_SERVE": "hang"}, "starting the gateway"),
        ("vllm", {"FAKE_VLLM": "load"}, "loading the model into 2 replicas"),
        ("none", {}, "starting Redis and Postgres"),
    ],
)
def test_a_stop_in_the_middle_of_a_start_leaves_nothing(
    up: Up, kind: str, variables: dict[str, str], words: str
) -> None:
    process = up.start(kind, **variables)
    up.until_said(words)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert up.left() == []
    assert not up.ready_file.exists()
    assert "stopped" in up.said


def test_a_stop_during_initdb_leaves_nothing_and_the_next_start_works(up: Up) -> None:
    process = up.start()
    up.until(lambda: list(up.data.glob("postgres/*")))
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 130
    assert up.left() == []
    up.start()
    up.until_ready()


def test_the_second_signal_does_not_wait_for_the_stubborn(up: Up) -> None:
    process = up.start("vllm", FAKE_VLLM="stubborn")
    up.until_said("loading the model")
    process.send_signal(signal.SIGINT)
    up.until_said("stopping")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert time.monotonic() - began < 3
    assert up.left() == []


def test_a_second_start_keeps_the_data(up: Up) -> None:
    for _ in range(2):
        process = up.start("vllm")
        up.until_ready()
        url = str(up.ready["database_url"])
        if len(up.started) == 2:
            with psycopg.connect(url.replace("+psycopg", "")) as connection:
                assert connection.execute("select count(*) from starts").fetchone() == (2,)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert up.left() == []


@pytest.mark.parametrize(
    ("kind", "variables", "words", "log"),
    [
        ("none", {"FAKE_MIGRATE": "fail"}, "migrate failed: ERROR: the schema is from the future", "migrate.log"),
        (
            "none",
            {"FAKE_SERVE": "die"},
            "gateway ended (exit code 1) before it was ready: ERROR: DRILLYARD_X",
            "gateway.log",
        ),
        ("vllm", {"FAKE_VLLM": "die"}, "before it was ready: ValueError: the window is longer than", "replica-1.log"),
        ("none", {"DRILLYARD_REDIS_SERVER": "/nowhere"}, "redis cannot be started", "redis.log"),
    ],
)
def test_a_part_that_fails_takes_the_rest_down_with_one_clear_line(
    up: Up, kind: str, variables: dict[str, str], words: str, log: str
) -> None:
    process = up.start(kind, **variables)
    assert process.wait(60) == 1
    last = up.said.splitlines()[-1]
    assert words in last
    assert last.endswith(str(Path("logs") / log))
    assert up.left() == []
