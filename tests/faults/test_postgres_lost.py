"""Postgres is killed and comes back: nothing is acknowledged that was not written, and serving goes on by itself."""

import os
import signal
import time
from pathlib import Path

from gateway.local.postgres_server import postgres_server
from sessions.migrations import upgrade
from tests.support.gateway_process import turn_events, world


def test_turns_that_could_not_be_written_are_not_acknowledged_and_can_be_taken_again(tmp_path: Path) -> None:
    cluster = tmp_path / "postgres"
    with postgres_server(cluster, fsync=False) as first:
        upgrade(first.url)
        port = int(first.url.rpartition(":")[2].partition("/")[0])
        with world(tmp_path, first.url) as installation, installation.client() as client:
            for engine in installation.engines.values():
                engine.script(reply="one two three four five six", delay_s=0.1)
            session = installation.open_session(client)
            assert client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 1"}).json()["state"] == "completed"
            events = turn_events(client, session, "turn 2", key="key-2")
            assert next(events).name == "accepted"
            os.kill(first.pid, signal.SIGQUIT)
            assert [event.name for event in events][-1] == "error"
            refused = client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 2"})
            assert refused.status_code == 503
            assert "retry-after" in refused.headers
            assert client.get("/readyz").status_code == 503
            with postgres_server(cluster, fsync=False, port=port):
                deadline = time.monotonic() + 20
                while client.get("/readyz").status_code != 200:
                    assert time.monotonic() < deadline
                    time.sleep(0.1)
                again = client.post(
                    f"/v1/sessions/{session}/turns", json={"text": "turn 2"}, headers={"Idempotency-Key": "key-2"}
                )
                assert (again.json()["turn"], again.json()["state"]) == (2, "completed")
                stored = client.get(f"/v1/sessions/{session}/turns").json()["items"]
                assert [turn["state"] for turn in stored] == ["completed", "completed"]
