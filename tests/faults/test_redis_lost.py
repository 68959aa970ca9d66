"""Redis is emptied and killed between turns: sessions go on, where they were, with the prompts they would have had."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.support.frozen import frozen
from tests.support.gateway_process import World, world
from tests.support.long_talk import wait_until

NOTICED_S = 0.35
"""A question of 0.25 s that is left unanswered, and the pause before it."""
SLACK_S = 1.0
"""What a busy machine may add; each time-out that were waited for in vain would add as much to every turn."""


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
        wait_until(lambda: client.get("/readyz").json()["checks"]["redis"]["ok"] is False)
        assert client.get("/readyz").status_code == 200
        assert client.post(f"/v1/sessions/{session}/close").json()["state"] == "closed"


def test_a_hung_redis_costs_one_turn_a_moment_and_the_next_ones_nothing(installation: World) -> None:
    with installation.client() as client:
        session = installation.open_session(client)

        def took_s(number: int) -> float:
            began = time.monotonic()
            assert play(installation, session, number)["turn"] == number
            return time.monotonic() - began

        usual_s = max(took_s(number) for number in (1, 2, 3))
        with frozen(installation.redis.pid):
            first_s, *others_s = [took_s(number) for number in (4, 5, 6, 7)]
            assert client.get("/readyz").json()["checks"]["redis"]["ok"] is False
        print(f"usual {usual_s:.3f} s, first {first_s:.3f} s, others {max(others_s):.3f} s")  # noqa: T201
        assert first_s < usual_s + NOTICED_S + SLACK_S
        assert min(others_s) < usual_s + SLACK_S / 2
        wait_until(lambda: client.get("/readyz").json()["checks"]["redis"]["ok"] is True)
        assert play(installation, session, 8)["turn"] == 8
        assert len(client.get(f"/v1/sessions/{session}/turns").json()["items"]) == 8
