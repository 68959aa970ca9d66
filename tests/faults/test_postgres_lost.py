"""Postgres is killed or hangs and comes back: what was acknowledged is on record once, and serving goes on."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from gateway.local.postgres_server import PostgresServer, postgres_server
from sessions.migrations import upgrade
from tests.support.frozen import frozen
from tests.support.gateway_process import World, turn_events, world
from tests.support.long_talk import metrics, wait_until


@dataclass
class House:
    """An installation whose Postgres can be killed and started again."""

    world: World
    cluster: Path
    server: PostgresServer
    stack: ExitStack
    acknowledged: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def client(self) -> httpx.Client:
        return self._client

    def __post_init__(self) -> None:
        self._client = self.stack.enter_context(self.world.client())

    def kill(self) -> None:
        os.kill(self.server.pid, signal.SIGQUIT)

    def start_again(self) -> None:
        port = int(self.server.url.rpartition(":")[2].partition("/")[0])
        self.server = self.stack.enter_context(postgres_server(self.cluster, fsync=False, port=port, keep=True))

    def open(self) -> str:
        session = self.world.open_session(self.client)
        self.acknowledged[session] = []
        return session

    def play(self, session: str, text: str, key: str | None = None) -> dict[str, Any]:
        headers = {} if key is None else {"Idempotency-Key": key}
        answer = self.client.post(f"/v1/sessions/{session}/turns", json={"text": text}, headers=headers)
        assert answer.status_code == 200, answer.text
        turn: dict[str, Any] = answer.json()
        assert turn["state"] == "completed", turn
        self.acknowledged[session].append(turn)
        return turn

    def drained(self, turns: int) -> None:
        """Until so many turns have left the spool since the gateway started."""
        wait_until(lambda: metrics(self.client)["drillyard_spool_drained_total"] == turns)

    def spooled(self) -> float:
        seen = metrics(self.client)
        return seen["drillyard_spool_turns"] + seen["drillyard_spool_local_turns"]

    def check_the_records(self) -> None:
        """Every acknowledged turn stands in Postgres once, in its order, with its session and its outbox entry."""
        with psycopg.connect(self.server.url.replace("+psycopg", "")) as connection:
            for session, turns in self.acknowledged.items():
                wanted = (session,)
                rows = connection.execute(
                    "select number, text, reply from turns where session_id = %s order by number", wanted
                )
                assert rows.fetchall() == [(turn["turn"], turn["text"], turn["reply"]) for turn in turns]
                row = connection.execute("select turn_count, version from sessions where id = %s", wanted).fetchone()
                assert row == (len(turns), len(turns) + 1)
                told = connection.execute(
                    "select facts->>'turn' from outbox where subject = %s and kind like 'turn.%%' order by id", wanted
                )
                assert told.fetchall() == [(str(turn["turn"]),) for turn in turns]


@contextmanager
def house(folder: Path, **settings: Any) -> Iterator[House]:
    cluster = folder / "postgres"
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server(cluster, fsync=False, keep=True))
        upgrade(server.url)
        made = stack.enter_context(world(folder, server.url, **settings))
        for engine in made.engines.values():
            engine.script(reply="one two three four five six", delay_s=0.02)
        yield House(made, cluster, server, stack)


def refuses_what_is_not_at_hand(here: House, session: str, idle: str) -> None:
    scenario = {"scenario_id": here.world.seed.scenarios[0].id}
    for refused in (
        here.client.post("/v1/sessions", json=scenario),
        here.client.post(f"/v1/sessions/{session}/close"),
        here.client.post(f"/v1/sessions/{idle}/turns", json={"text": "never played before"}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (503, "records_unavailable"), refused.text
        assert "retry-after" in refused.headers


def test_running_sessions_go_on_without_postgres_and_are_on_record_once_it_is_back(tmp_path: Path) -> None:
    with house(tmp_path, KEY_CACHE_S="1", RECORDS__SPOOL="redis") as here:
        session, idle = here.open(), here.open()
        here.play(session, "turn 1", "key-1")
        # One turn ends while the database dies.
        events = turn_events(here.client, session, "turn 2", key="key-2")
        assert next(events).name == "accepted"
        here.kill()
        last = list(events)[-1]
        assert last.name == "done", last
        here.acknowledged[session].append(here.client.get(f"/v1/sessions/{session}/turns/2").json())
        wait_until(lambda: here.spooled() == 1)
        # Asked for again, it is the same turn; and the next ones go on, each known to the tutor.
        again = here.client.post(
            f"/v1/sessions/{session}/turns", json={"text": "turn 2"}, headers={"Idempotency-Key": "key-2"}
        )
        assert again.json()["turn"] == 2
        for number in (3, 4):
            here.play(session, f"turn {number}", f"key-{number}")
        engine = here.world.engines[here.acknowledged[session][-1]["replica"]]
        sent = engine.requests()[-1]["messages"]
        assert [message["content"] for message in sent if message["role"] == "user"][-4:-1] == [
            "turn 1",
            "turn 2",
            "turn 3",
        ]
        stored = here.client.get(f"/v1/sessions/{session}/turns").json()["items"]
        assert stored == here.acknowledged[session]
        assert here.client.get(f"/v1/sessions/{session}").json()["turn_count"] == 4
        refuses_what_is_not_at_hand(here, session, idle)
        ready = here.client.get("/readyz")
        assert ready.status_code == 200
        assert ready.json()["checks"]["postgres"]["ok"] is False

        here.start_again()
        here.drained(3)
        here.check_the_records()
        here.play(session, "turn 5")
        here.check_the_records()
        assert here.client.get("/readyz").json()["checks"]["postgres"]["ok"] is True
        assert metrics(here.client)["drillyard_spool_conflicts_total"] == 0


def test_a_turn_waits_for_a_hung_postgres_no_longer_than_it_takes_to_notice(tmp_path: Path) -> None:
    with house(tmp_path, RECORDS__PATIENCE_S="1") as here:
        session = here.open()
        here.play(session, "turn 1")
        with frozen(here.server.pid):
            took = []
            for number in (2, 3, 4):
                began = time.monotonic()
                here.play(session, f"turn {number}")
                took.append(time.monotonic() - began)
            assert took[0] < 4.0
            assert max(took[1:]) < 1.5
        here.drained(3)
        here.check_the_records()


def test_what_a_killed_gateway_had_acknowledged_is_written_by_the_next_one(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    with house(tmp_path, RECORDS__SPOOL="local", RECORDS__SPOOL_FOLDER=str(folder)) as here:
        session = here.open()
        here.play(session, "turn 1")
        here.kill()
        here.play(session, "turn 2")
        here.world.gateway.kill()
        here.start_again()
        here.world.gateway.start()
        here.drained(1)
        here.check_the_records()


def test_without_a_spool_nothing_is_acknowledged_that_was_not_written(tmp_path: Path) -> None:
    with house(tmp_path, RECORDS__SPOOL="off") as here:
        session = here.open()
        here.play(session, "turn 1")
        events = turn_events(here.client, session, "turn 2", key="key-2")
        assert next(events).name == "accepted"
        here.kill()
        assert [event.name for event in events][-1] == "error"
        refused = here.client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 2"})
        assert refused.status_code == 503
        assert "retry-after" in refused.headers
        wait_until(lambda: here.client.get("/readyz").status_code == 503)
        here.start_again()
        wait_until(lambda: here.client.get("/readyz").status_code == 200)
        here.play(session, "turn 2", "key-2")
        here.check_the_records()


def test_turns_are_refused_once_the_spool_is_full(tmp_path: Path) -> None:
    with house(tmp_path, RECORDS__SPOOL="local", RECORDS__SPOOL_TURNS="1") as here:
        session = here.open()
        here.play(session, "turn 1")
        here.kill()
        here.play(session, "turn 2")
        full = here.client.post(f"/v1/sessions/{session}/turns", json={"text": "turn 3"})
        assert (full.status_code, full.json()["code"]) == (503, "records_unavailable"), full.text
        assert here.client.get("/readyz").status_code == 503
        here.start_again()
        here.drained(1)
        here.play(session, "turn 3")
        here.check_the_records()
