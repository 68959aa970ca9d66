"""The gateway is killed in the middle of a drill and started again: no turn is lost, none is doubled."""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.gateway_process import World, turn_events, world


@pytest.fixture
def installation(tmp_path: Path, database_url: str) -> Iterator[World]:
    with world(tmp_path, database_url) as made:
        yield made


def take(client: httpx.Client, session: str, text: str, key: str) -> dict[str, object]:
    """One turn as a patient client takes it: asked again under its key until it is there."""
    deadline = time.monotonic() + 30
    while True:
        try:
            answer = client.post(f"/v1/sessions/{session}/turns", json={"text": text}, headers={"Idempotency-Key": key})
        except httpx.TransportError:
            answer = None
        if answer is not None and answer.is_success:
            turn: dict[str, object] = answer.json()
            return turn
        assert answer is None or "retry-after" in answer.headers, answer.text
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_kill_9_between_and_inside_turns_loses_and_doubles_nothing(installation: World) -> None:
    for engine in installation.engines.values():
        engine.script(reply="one two three four five six seven eight", delay_s=0.05)
    with installation.client() as client:
        session = installation.open_session(client)
        acknowledged = [take(client, session, "turn 1", "key-1")]
        for number, pieces in ((2, 1), (3, 4), (4, 8)):
            seen = turn_events(client, session, f"turn {number}", key=f"key-{number}")
            list(itertools.islice(seen, pieces))
            installation.gateway.kill()
            with pytest.raises(httpx.TransportError):
                list(seen)
            installation.gateway.start()
            acknowledged.append(take(client, session, f"turn {number}", f"key-{number}"))
        stored = client.get(f"/v1/sessions/{session}/turns").json()["items"]
    assert stored == acknowledged
    assert [turn["turn"] for turn in stored] == [1, 2, 3, 4]
    assert [turn["text"] for turn in stored] == ["turn 1", "turn 2", "turn 3", "turn 4"]
    assert {turn["state"] for turn in stored} == {"completed"}
    assert len({turn["replica"] for turn in stored}) == 1


def test_a_stopping_gateway_lets_its_turns_end(installation: World) -> None:
    for engine in installation.engines.values():
        engine.script(reply="one two three four five six", delay_s=0.05)
    with installation.client() as client:
        session = installation.open_session(client)
        events = turn_events(client, session, "turn 1")
        assert next(events).name == "accepted"
        started = time.monotonic()
        # The events are read by this thread while the process, told to stop, goes on writing them.
        installation.gateway.ask_to_stop()
        rest = [event.name for event in events]
        assert rest[-1] == "done"
        assert installation.gateway.wait() == 0
        assert time.monotonic() - started < 15
        installation.gateway.start()
        assert [turn["state"] for turn in client.get(f"/v1/sessions/{session}/turns").json()["items"]] == ["completed"]
