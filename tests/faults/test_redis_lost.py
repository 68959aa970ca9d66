"""Redis is emptied and killed between turns: sessions go on, where they were, with the prompts they would have had."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.support.gateway_process import World, world


@pytest.fixture
def installation(tmp_path: Path, database_url: str) -> Iterator[World]:
    with world(tmp_path, database_url) as made:
        yield made


def play(world: World, session: str, number: int) -> dict[str, object]:
    with world.client() as client:
        answer = client.post(f"/v1/sessions/{session}/turns", json={"text": f"message {number} 你好"})
        answer.raise_for_status()
        turn: dict[str, object] = answer.json()
        return turn


def test_after_a_flush_the_session_is_on_its_replica_and_its_next_prompt_is_the_same(installation: World) -> None:
    with installation.client() as client:
        sessions = [installation.open_session(client) for _ in range(4)]
    homes = {session: play(installation, session, 1)["replica"] for session in sessions}
    assert set(homes.values()) == {"replica-1", "replica-2"}
    for number in range(2, 5):
        before = {session: installation.context(session) for session in sessions}
        with redis.Redis.from_url(installation.redis.url) as admin:
            admin.flushall()
        assert {session: installation.context(session) for session in sessions} == before
        for session in sessions:
            turn = play(installation, session, number)
            assert turn["replica"] == homes[session]
            sent = installation.engines[str(turn["replica"])].requests()[-1]["messages"]
            assert sent[:-1] == [{"role": m["role"], "content": m["content"]} for m in before[session]["messages"]]


def test_without_redis_turns_go_on_and_readiness_says_what_is_missing(installation: World) -> None:
    with installation.client() as client:
        session = installation.open_session(client)
        first = play(installation, session, 1)
        os.kill(installation.redis.pid, signal.SIGKILL)
        second = play(installation, session, 2)
        assert (second["turn"], second["replica"]) == (2, first["replica"])
        ready = client.get("/readyz")
        assert ready.status_code == 200
        assert ready.json()["checks"]["redis"]["ok"] is False
        assert client.post(f"/v1/sessions/{session}/close").json()["state"] == "closed"
