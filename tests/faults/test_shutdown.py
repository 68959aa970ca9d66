"""A gateway that is told to stop: who is served to the end, for how long, and what cannot hold it up."""

import time
from pathlib import Path

import httpx
import pytest

from gateway.local.postgres_server import postgres_server
from sessions.migrations import upgrade
from tests.support.frozen import frozen
from tests.support.gateway_process import turn_events, world
from tests.support.long_talk import wait_until

GRACE_S = 1.0


def test_balancers_have_time_to_look_elsewhere_before_the_door_is_closed(tmp_path: Path, database_url: str) -> None:
    with world(tmp_path, database_url, SHUTDOWN_PAUSE_S="3") as here, here.client() as client:
        session = here.open_session(client)
        here.gateway.ask_to_stop()
        began = time.monotonic()
        wait_until(lambda: client.get("/readyz").status_code == 503)
        # Whoever still comes, on a new connection too, is served.
        with here.client() as late:
            turn = late.post(f"/v1/sessions/{session}/turns", json={"text": "turn 1"})
            assert turn.json()["state"] == "completed", turn.text
        assert here.gateway.wait() == 0
        assert time.monotonic() - began > 2.5
        here.gateway.start()
        assert [turn["turn"] for turn in client.get(f"/v1/sessions/{session}/turns").json()["items"]] == [1]


def test_a_second_signal_ends_it_at_once(tmp_path: Path, database_url: str) -> None:
    with world(tmp_path, database_url) as here, here.client() as client:
        for engine in here.engines.values():
            engine.script(reply="word " * 200, delay_s=0.2)
        events = turn_events(client, here.open_session(client), "turn 1")
        assert next(events).name == "accepted"
        here.gateway.ask_to_stop()
        time.sleep(1.0)  # what comes sooner counts as the same signal
        began = time.monotonic()
        here.gateway.ask_to_stop()
        assert here.gateway.wait() == 0
        assert time.monotonic() - began < 2.0
        with pytest.raises(httpx.TransportError):
            list(events)


def test_a_hung_postgres_holds_it_up_no_longer_than_it_takes_to_notice(tmp_path: Path) -> None:
    with postgres_server(tmp_path / "postgres", fsync=False) as server:
        upgrade(server.url)
        with (
            world(tmp_path, server.url, SHUTDOWN_GRACE_S=str(GRACE_S), RECORDS__PATIENCE_S="1") as here,
            here.client() as client,
        ):
            for engine in here.engines.values():
                engine.script(reply="word " * 200, delay_s=0.2)
            session = here.open_session(client)
            events = turn_events(client, session, "turn 1")
            assert next(events).name == "accepted"
            with frozen(server.pid):
                began = time.monotonic()
                here.gateway.ask_to_stop()
                last = list(events)[-1]
                assert here.gateway.wait() == 0
                took_s = time.monotonic() - began
            assert took_s < GRACE_S + 6.0, took_s
            assert (last.name, '"server_stopping"' in last.data, '"retryable":true' in last.data) == (
                "error",
                True,
                True,
            )
            here.gateway.start()
            # The turn that was cut off waited in Redis for a database that answers, and for a process to write it.
            wait_until(lambda: len(client.get(f"/v1/sessions/{session}/turns").json()["items"]) == 1)
            (turn,) = client.get(f"/v1/sessions/{session}/turns").json()["items"]
            assert (turn["state"], turn["error"]["code"]) == ("failed", "server_stopping")
