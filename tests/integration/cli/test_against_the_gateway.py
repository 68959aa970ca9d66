"""The commands against the real gateway, with real Redis, real Postgres and scripted engines."""

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Command
from tests.support.gateway_process import World, world
from tests.support.postgres_fixture import PostgresTemplate

ROOT = Path(__file__).parents[3]

pytestmark = [pytest.mark.redis, pytest.mark.postgres]


@pytest.fixture(scope="module")
def lasting(
    tmp_path_factory: pytest.TempPathFactory, postgres_template: PostgresTemplate
) -> Iterator[tuple[World, str]]:
    with postgres_template.copy() as url, world(tmp_path_factory.mktemp("stack"), url, KEY_CACHE_S="0") as running:
        yield running, url


@pytest.fixture
def stack(lasting: tuple[World, str], tmp_path: Path) -> World:
    """One that no test breaks, as `drillyard up` leaves it: with a ready file in the folder `data`."""
    running, url = lasting
    for engine in running.engines.values():
        engine.reset()
    tell(running, url, tmp_path)
    return running


@pytest.fixture
def doomed(tmp_path: Path, database_url: str) -> Iterator[World]:
    """One of which a test kills a part."""
    with world(tmp_path, database_url) as running:
        tell(running, database_url, tmp_path)
        yield running


def tell(running: World, database_url: str, folder: Path) -> None:
    keys = running.seed.keys
    ready = {
        "base_url": running.gateway.url,
        "keys": {"operator": keys.operator, "trainees": list(keys.trainees)},
        "scenarios": [{"id": scenario.id, "locale": scenario.locale} for scenario in running.seed.scenarios],
        "database_url": database_url,
    }
    (folder / "data").mkdir()
    (folder / "data" / "ready.json").write_text(json.dumps(ready))


def started(tmp_path: Path, *words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "gateway.cli.main", *words, "--data", str(tmp_path / "data")]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def open_sessions(stack: World) -> int:
    with stack.client(stack.seed.keys.operator) as client:
        return len(client.get("/v1/sessions", params={"state": "open"}).json()["items"])


def wait_for_turns(stack: World, count: int) -> None:
    deadline = time.monotonic() + 30
    while sum(len(engine.requests()) for engine in stack.engines.values()) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_drill_against_the_real_thing_passes(drillyard: Command, stack: World, tmp_path: Path, language: str) -> None:
    out = tmp_path / "out.json"
    ended = drillyard(
        *("drill", "run", "--data", str(tmp_path / "data"), "--scenario", language, "--json", str(out)),
        *("--trainees", "5", "--turns", "4", "--think", "0.05"),
    )
    assert ended.code == 0, ended
    told = json.loads(out.read_text())
    assert told["summary"]["totals"]["turns"] == 20
    assert told["summary"]["totals"]["cached_tokens"] > 0
    assert not told["summary"]["changes"]
    assert {row["pin"] for row in told["turns"] if row["turn"] > 1} == {"kept"}
    assert open_sessions(stack) == 0


def test_a_class_of_the_calendar_is_played_in_its_seats(
    drillyard: Command, stack: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = ("--data", str(tmp_path / "data"))
    words = ("--scenario", "en", "--in", "1m", "--for", "5m", "--trainees", "3", "--seats", "3", "--json")
    lesson = json.loads(drillyard("drill", "add", *here, "--key", stack.seed.keys.operator, *words).out)["id"]
    ended = drillyard("drill", "run", *here, "--drill", lesson, "--trainees", "2", "--turns", "1")
    assert ended.code == 0, ended
    monkeypatch.setattr(sys, "stdin", io.StringIO("Good morning.\n"))
    ended = drillyard("chat", *here, "--drill", lesson)
    assert "turn 1, replica-" in ended.out, ended
    with stack.client(stack.seed.keys.operator) as client:
        assert len(client.get("/v1/sessions", params={"drill_id": lesson}).json()["items"]) == 3
    for command in ("chat", "drill run"):
        assert drillyard(*command.split(), *here, "--drill", lesson, "--scenario", "en").code == 2


def test_a_replica_killed_in_a_drill_moves_its_sessions_and_nothing_fails(doomed: World, tmp_path: Path) -> None:
    with started(
        tmp_path, "drill", "run", "--scenario", "en", "--trainees", "6", "--turns", "6", "--think", "0.3"
    ) as drill:
        wait_for_turns(doomed, 9)
        doomed.engines["replica-1"].kill()
        out, err = drill.communicate(timeout=60)
    assert (drill.returncode, err) == (0, ""), out
    assert "36 of 36 turns" in out
    assert "replica-1 -> replica-2 (moved)" in out


def test_ctrl_c_leaves_no_session_open_and_no_engine_at_work(stack: World, tmp_path: Path) -> None:
    for engine in stack.engines.values():
        engine.script(delay_s=0.5)
    with started(tmp_path, "drill", "run", "--scenario", "en", "--trainees", "4", "--think", "0") as drill:
        wait_for_turns(stack, 4)
        drill.send_signal(signal.SIGINT)
        out, err = drill.communicate(timeout=60)
    assert (drill.returncode, err) == (130, ""), out
    assert "drill stopped before its end" in out
    assert open_sessions(stack) == 0
    assert [engine.running() for engine in stack.engines.values()] == [0, 0]


def test_a_gateway_killed_in_a_drill_fails_it(doomed: World, tmp_path: Path) -> None:
    with started(tmp_path, "drill", "run", "--scenario", "en", "--trainees", "2", "--think", "0.2") as drill:
        wait_for_turns(doomed, 3)
        doomed.gateway.kill()
        out, err = drill.communicate(timeout=60)
    assert (drill.returncode, err) == (1, "")
    assert "failed: unreachable" in out
    assert "drill FAILED" in out


def test_a_key_made_here_opens_the_gateway_until_it_is_revoked(
    drillyard: Command, stack: World, tmp_path: Path
) -> None:
    where = ("--data", str(tmp_path / "data"), "--tenant", "acme")
    key = drillyard("keys", "create", *where, "--role", "trainee", "--name", "li.wei").out.strip()
    with stack.client(key) as client:
        assert client.get("/v1/scenarios").status_code == 200
        assert drillyard("keys", "revoke", *where, key.split("_")[1]).code == 0
        assert client.get("/v1/scenarios").status_code == 401


def test_a_list_that_is_put_in_force_here_stops_a_reply(drillyard: Command, stack: World, tmp_path: Path) -> None:
    file = tmp_path / "words.csv"
    file.write_text("text,category\n保本高收益,returns\n", encoding="utf-8-sig")
    where = ("--base-url", stack.gateway.url, "--key", stack.seed.keys.instructor)
    told = drillyard(
        "moderation", "import", str(file), "--name", "compliance", "--direction", "output", "--live", *where
    )
    assert (told.code, told.out) == (0, "compliance: version 1 is written; version 1 is in force\n"), told
    assert drillyard("moderation", "check", "保 本 高 收 益", "--direction", "output", *where).code == 3
    for engine in stack.engines.values():
        engine.script(reply="这是保本高收益的产品。")
    with stack.client() as client:
        path = f"/v1/sessions/{stack.open_session(client)}/turns"
        turn = client.post(path, json={"text": "你好"}).raise_for_status().json()
    assert (turn["state"], turn["reply"]) == ("blocked", "这是")
    assert drillyard("moderation", "archive", "compliance", *where).code == 0
    audit = drillyard("moderation", "audit", *where).out
    assert "list_created" in audit
    assert "保本" not in audit + stack.gateway.log.read_text()
