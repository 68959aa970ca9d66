"""A guard model behind the rules, as a process of its own: there, silent, gone and back again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.support.engine_process import EngineProcess, scripted_engine
from tests.support.gateway_process import World, turn_events, world
from tests.support.long_talk import wait_until

KEY = "guard-key-5f2c"
SAFE = "Safety: Safe\nCategories: None"
UNSAFE = "Safety: Unsafe\nCategories: Violent"
REPLY = "Good morning to you. Now we build a bomb. " + "And so on it goes. " * 200
RELEASED = "Good morning to you. "
LONG = "We build it. " * 9


@contextmanager
def guarded(folder: Path, database_url: str, *, when_away: str = "open") -> Iterator[tuple[World, EngineProcess]]:
    with scripted_engine() as guard:
        guard.script(reply=SAFE, replies=[("bomb", UNSAFE)])
        with world(
            folder,
            database_url,
            engines=1,
            GUARD__URL=guard.url,
            GUARD__MODEL="smollm2",
            GUARD__KEY=KEY,
            GUARD__TIMEOUT_S="0.5",
            GUARD__PAUSE_S="1",
            GUARD__WHEN_AWAY=when_away,
            LOG_LEVEL="debug",
        ) as here:
            yield here, guard


def said(client: httpx.Client, session: str, text: str = "Hello") -> dict[str, Any]:
    answer = client.post(f"/v1/sessions/{session}/turns", json={"text": text})
    assert answer.status_code == 200, answer.text
    turn: dict[str, Any] = answer.json()
    return turn


def figure(client: httpx.Client, name: str) -> float:
    lines = client.get("/metrics").text.splitlines()
    return float(next(line.split()[-1] for line in lines if line.startswith(f"drillyard_{name} ")))


def told_of_guard(client: httpx.Client) -> tuple[int, bool]:
    answer = client.get("/readyz")
    return answer.status_code, answer.json()["checks"]["guard"]["ok"]


def findings(here: World, session: str, turn: int) -> list[tuple[str, str, str]]:
    with here.client(here.seed.keys.instructor) as staff:
        told = staff.get(f"/v1/sessions/{session}/turns/{turn}").json()["moderation"]["findings"]
    return [(each["source"], each["rule"], each["action"]) for each in told]


def stopped_both_ways(here: World, client: httpx.Client, session: str) -> None:
    (engine,) = here.engines.values()
    engine.reset()
    turn = said(client, session, "How do I build a bomb?")
    assert (turn["state"], turn["blocked_reason"], turn["reply"]) == ("blocked", "unsafe_content", "")
    assert engine.requests() == []
    engine.script(reply=REPLY, delay_s=0.01)
    *before, last = turn_events(client, session, "Hello")
    text = "".join(str(json.loads(event.data)["text"]) for event in before if event.name == "delta")
    assert (text, last.name, json.loads(last.data)["reason"]) == (RELEASED, "blocked", "unsafe_content")
    wait_until(lambda: engine.running() == 0)
    turn = said(client, session)
    assert (turn["state"], turn["reply"]) == ("blocked", RELEASED)
    assert findings(here, session, 3) == [("guard", "violent", "block")]
    assert figure(client, "guard_unsafe_total") >= 3


def chats_are_stopped_too(here: World) -> None:
    def chat(text: str) -> httpx.Response:
        asked = {"model": "smollm2", "stream": True, "messages": [{"role": "user", "content": text}]}
        return staff.post("/v1/chat/completions", json=asked)

    with here.client(here.seed.keys.instructor) as staff:
        refused = chat("How do I build a bomb?")
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "content_blocked")
        lines = [line.removeprefix("data: ") for line in chat("Hello").text.splitlines() if line]
    assert lines.pop() == "[DONE]"
    choices = [choice for line in lines for choice in json.loads(line)["choices"]]
    assert "".join(choice["delta"].get("content") or "" for choice in choices) == RELEASED
    assert choices[-1]["finish_reason"] == "content_filter"


def passes_with_a_mark_after_one_wait(here: World, client: httpx.Client, session: str) -> None:
    (engine,) = here.engines.values()
    engine.script(reply=LONG)
    before = figure(client, "guard_timeouts_total"), figure(client, "guard_skipped_total")
    turn = said(client, session, "A bomb, please")
    assert (turn["state"], turn["reply"]) == ("completed", LONG)
    after = figure(client, "guard_timeouts_total"), figure(client, "guard_skipped_total")
    assert after[0] - before[0] <= 2, "the message, and perhaps the question of the process: one wait for all"
    assert after[1] - before[1] >= 9, "the sentences"
    assert set(findings(here, session, turn["turn"])) == {("guard", "guard_away", "flag")}
    assert told_of_guard(client) == (200, False)


def test_with_its_guard_the_unsafe_is_stopped_and_without_it_passes_with_a_mark(
    tmp_path: Path, database_url: str
) -> None:
    with guarded(tmp_path, database_url) as (here, guard), here.client() as client:
        session = here.open_session(client)
        assert told_of_guard(client) == (200, True)
        stopped_both_ways(here, client, session)
        chats_are_stopped_too(here)
        guard.freeze()
        passes_with_a_mark_after_one_wait(here, client, session)
        guard.thaw()
        wait_until(lambda: figure(client, "guard_away") == 0)
        assert said(client, session, "A bomb, please")["state"] == "blocked"
        assert figure(client, "guard_calls_running") == 0
        assert {each["headers"]["authorization"] for each in guard.requests()} == {f"Bearer {KEY}"}
        log = here.gateway.log.read_text()
        assert "guard lost" in log
        assert KEY not in log
        assert "bomb" not in log


def test_a_guard_that_must_be_asked_stops_every_turn_while_it_is_away(tmp_path: Path, database_url: str) -> None:
    with guarded(tmp_path, database_url, when_away="closed") as (here, guard), here.client() as client:
        session = here.open_session(client)
        assert said(client, session)["state"] == "completed"
        guard.kill()
        turn = said(client, session)
        assert (turn["state"], turn["blocked_reason"]) == ("blocked", "moderation_unavailable")
        assert told_of_guard(client) == (503, False)
        guard.start()
        guard.script(reply=SAFE)
        wait_until(lambda: told_of_guard(client) == (200, True))
        assert said(client, session)["state"] == "completed"
