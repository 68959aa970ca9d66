"""A replica dies, freezes or is not there: a turn ends honestly, and the session goes on elsewhere."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.gateway_process import World, turn_events, world


@pytest.fixture
def installation(tmp_path: Path, database_url: str) -> Iterator[World]:
    with world(tmp_path, database_url, ROUTER__CHUNK_TIMEOUT_S="1", ROUTER__FIRST_BYTE_TIMEOUT_S="3") as made:
        yield made


FAULTS = ("stall", "cut", "error", "abort", "no_finish")
REPLY = "one two three four five six"
REST = " and that is all"


def test_a_reply_whose_replica_is_lost_goes_on_at_another(installation: World) -> None:
    with installation.client() as client:
        for fault in (*FAULTS, "die"):
            goes_on(installation, client, fault)


def goes_on(installation: World, client: httpx.Client, fault: str) -> None:
    for engine in installation.engines.values():
        engine.script(reply=REPLY)
    session = installation.open_session(client)
    home = client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 1"}).json()["replica"]
    other = next(name for name in installation.engines if name != home)
    installation.engines[home].script(fault=fault, after_chunks=3, times=1)
    installation.engines[other].script(reply=REST)
    events = list(turn_events(client, session, "turn 2"))
    text = "".join(json.loads(event.data)["text"] for event in events if event.name == "delta")
    assert text.endswith(REST), fault
    assert REPLY.startswith(text.removesuffix(REST)), fault
    assert len(text) > len(REST), fault
    assert json.loads(events[0].data)["replica"] == home
    done = json.loads(events[-1].data)
    assert (events[-1].name, done["continued"], done["replica"]) == ("done", True, other), fault
    stored = client.get(f"/v1/sessions/{session}/turns/2").json()
    assert (stored["state"], stored["reply"], stored["replica"]) == ("completed", text, other), fault
    assert stored["continued"] is True
    third = client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 3"})
    assert (third.json()["replica"], third.headers["x-session-pin"]) == (other, "kept"), fault
    assert third.json()["continued"] is False


def test_a_reply_that_breaks_everywhere_ends_with_a_retryable_error_and_is_stored(installation: World) -> None:
    with installation.client() as client:
        for fault in FAULTS:
            for engine in installation.engines.values():
                engine.script(reply=REPLY, fault=fault, after_chunks=3, times=1)
            session = installation.open_session(client)
            events = list(turn_events(client, session, "turn 1"))
            assert events[-1].name == "error", fault
            assert json.loads(events[-1].data)["retryable"] is True
            text = "".join(json.loads(event.data)["text"] for event in events if event.name == "delta")
            assert text
            stored = client.get(f"/v1/sessions/{session}/turns/1").json()
            assert (stored["state"], stored["reply"]) == ("failed", text)
            for engine in installation.engines.values():
                engine.script(fault="")
            again = client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 1 again"}).json()
            assert (again["turn"], again["state"], again["reply"]) == (2, "completed", REPLY), fault


def test_a_dead_replica_s_sessions_move_at_their_next_turn_and_stay_there(installation: World) -> None:
    with installation.client() as client:
        session = installation.open_session(client)
        first = client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 1"})
        home = first.json()["replica"]
        assert first.headers["x-session-pin"] == "new"
        installation.engines[home].kill()
        second = client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 2"})
        assert second.headers["x-session-pin"] == "moved"
        assert second.json()["replica"] != home
        installation.engines[home].start()
        third = client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 3"})
        assert (third.headers["x-session-pin"], third.json()["replica"]) == ("kept", second.json()["replica"])


def test_without_any_replica_a_turn_is_refused_and_nothing_is_stored(installation: World) -> None:
    for engine in installation.engines.values():
        engine.kill()
    with installation.client() as client:
        session = installation.open_session(client)
        answer = client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 1"})
        assert answer.status_code == 503
        assert answer.json()["code"] == "no_replica"
        assert int(answer.headers["retry-after"]) >= 1
        assert client.get(f"/v1/sessions/{session}/turns").json()["items"] == []
