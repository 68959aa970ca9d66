"""Turns are read, joined and stopped at a gateway that does not run them, and outlive the loss of the one that does."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from redis import Redis

from gateway.cli.event_stream import EventReader, ServerEvent
from tests.support.gateway_process import GatewayProcess, World, turn_events, world
from tests.support.postgres_fixture import PostgresTemplate

STREAM = {"Accept": "text/event-stream"}


@dataclass(frozen=True)
class Two:
    """One installation with two gateways."""

    world: World
    other: GatewayProcess

    def here(self) -> httpx.Client:
        return self.world.client()

    def there(self) -> httpx.Client:
        client = self.world.client()
        client.base_url = httpx.URL(self.other.url)
        return client

    def script(self, reply: str, *, delay_s: float = 0.05, first_delay_s: float = 0.0) -> None:
        for engine in self.world.engines.values():
            engine.script(reply=reply, delay_s=delay_s, first_delay_s=first_delay_s)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, postgres_template: PostgresTemplate) -> Iterator[Two]:
    folder = tmp_path_factory.mktemp("two")
    with (
        postgres_template.copy() as url,
        world(folder, url, JOURNAL__UNREAD_GRACE_S="1") as made,
        made.gateway.neighbour() as other,
    ):
        yield Two(made, other)


@pytest.fixture
def two(house: Two) -> Two:
    """With both gateways up, whatever was done to them before."""
    if not house.world.gateway.is_up:
        house.world.gateway.start()
    for engine in house.world.engines.values():
        engine.reset()
    return house


def follow(client: httpx.Client, session: str, turn: int = 1, *, after: str = "") -> Iterator[ServerEvent]:
    headers = STREAM | ({"Last-Event-ID": after} if after else {})
    with client.stream("GET", f"/v1/sessions/{session}/turns/{turn}/events", headers=headers) as response:
        response.raise_for_status()
        reader = EventReader()
        for chunk in response.iter_raw():
            yield from reader.feed(chunk)


def text(events: list[ServerEvent]) -> str:
    return "".join(json.loads(event.data)["text"] for event in events if event.name == "delta")


def test_a_stream_goes_on_at_the_other_gateway_with_every_character_once(two: Two) -> None:
    two.script("一 two three 四 five six seven eight nine ten 🙂 eleven twelve")
    with two.here() as here, two.there() as there:
        session = two.world.open_session(here)
        seen = list(itertools.islice(turn_events(here, session, "Hello"), 4))
        for client, many in ((there, 3), (here, 2), (there, 100)):
            seen += itertools.islice(follow(client, session, after=seen[-1].id), many)
        stored = here.get(f"/v1/sessions/{session}/turns/1").json()
        again = list(follow(there, session))
    assert text(seen) == text(again) == stored["reply"]
    assert [event.name for event in seen if event.name != "delta"] == ["accepted", "done"]
    assert seen[-1].data == again[-1].data


def test_a_stream_goes_on_at_the_other_gateway_though_redis_was_emptied_in_a_pause(two: Two) -> None:
    two.script("one two three four", delay_s=0.8)
    with two.here() as here, two.there() as there, Redis.from_url(two.world.redis.url) as redis:
        session = two.world.open_session(here)
        seen = list(itertools.islice(turn_events(here, session, "Hello", key="a-key"), 2))
        redis.flushall()
        seen += follow(there, session, after=seen[-1].id)
        stored = here.get(f"/v1/sessions/{session}/turns/1").json()
    assert (seen[-1].name, text(seen)) == ("done", stored["reply"])


def test_the_same_key_joins_the_turn_at_the_other_gateway(two: Two) -> None:
    two.script("one two three four five six seven eight nine ten")
    with two.here() as here, two.there() as there:
        session = two.world.open_session(here)
        first = turn_events(here, session, "Hello", key="a-key")
        seen = list(itertools.islice(first, 2))
        joined = list(turn_events(there, session, "Hello", key="a-key"))
        assert text(joined) == text(seen + list(first))
        key = {"Idempotency-Key": "another-key"}
        path = f"/v1/sessions/{session}/turns"
        started = turn_events(here, session, "Hello again", key="another-key")
        next(started)
        other = there.post(path, json={"text": "Not that"}, headers=key)
        whole = there.post(path, json={"text": "Hello again"}, headers=key).json()
        list(started)
        stored = here.get(f"{path}/2").json()
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert whole == stored
    asked = [request for engine in two.world.engines.values() for request in engine.requests()]
    assert sum(len(request["messages"]) > 1 for request in asked) == 2  # canaries have one


def test_a_turn_is_cancelled_at_the_other_gateway(two: Two) -> None:
    two.script("one two three four five six seven eight nine ten", delay_s=0.5)
    with two.here() as here, two.there() as there:
        session = two.world.open_session(here)
        events = turn_events(here, session, "Hello")
        seen = list(itertools.islice(events, 2))
        asked = time.monotonic()
        assert there.post(f"/v1/sessions/{session}/turns/1/cancel").status_code == 202
        seen += events
        assert time.monotonic() - asked < 1.0
        assert seen[-1].name == "cancelled"
        stored = here.get(f"/v1/sessions/{session}/turns/1").json()
        assert (stored["state"], stored["reply"]) == ("cancelled", text(seen))
        assert there.post(f"/v1/sessions/{session}/turns/1/cancel").status_code == 202
        assert there.post(f"/v1/sessions/{session}/turns/2/cancel").status_code == 404
        assert there.get(f"/v1/sessions/{session}/turns/2/events", headers=STREAM).status_code == 404


def test_a_turn_that_nobody_reads_is_cancelled_unless_somebody_reads_it_elsewhere_or_has_a_key(two: Two) -> None:
    two.script("one two three four five six seven eight", delay_s=0.5)
    with two.here() as here, two.there() as there:
        left, read, keyed = (two.world.open_session(here) for _ in range(3))
        for session, key in ((left, None), (read, None), (keyed, "a-key")):
            list(itertools.islice(turn_events(here, session, "Hello", key=key), 2))
        assert list(follow(there, read))[-1].name == "done"
        states = {session: ended(here, session)["state"] for session in (left, read, keyed)}
    assert states == {left: "cancelled", read: "completed", keyed: "completed"}


def test_who_waits_for_the_whole_turn_is_a_reader_until_he_leaves(two: Two) -> None:
    two.script("one two three four five six seven eight", delay_s=0.3)
    with two.here() as here:
        stays, leaves = two.world.open_session(here), two.world.open_session(here)
        with pytest.raises(httpx.ReadTimeout):
            here.post(f"/v1/sessions/{leaves}/turns", json={"text": "Hello"}, timeout=0.5)
        assert here.post(f"/v1/sessions/{stays}/turns", json={"text": "Hello"}).json()["state"] == "completed"
        assert ended(here, leaves)["state"] == "cancelled"


def ended(client: httpx.Client, session: str) -> dict[str, object]:
    """The session's first turn, once it is on record."""
    deadline = time.monotonic() + 15
    while not (answer := client.get(f"/v1/sessions/{session}/turns/1")).is_success:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    turn: dict[str, object] = answer.json()
    return turn


def test_the_documented_reader_gets_everything_though_each_of_its_connections_is_cut(two: Two, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    two.script("一 two three 四 five six seven eight nine ten 🙂 eleven twelve")
    with two.here() as here:
        session = two.world.open_session(here)
        key = here.headers["authorization"].removeprefix("Bearer ")
        program = tmp_path / "reader.mjs"
        example = (Path(__file__).parents[2] / "docs" / "streams.md").read_text().partition("```js\n")[2]
        program.write_text(_CUTTING.replace("EXAMPLE", example.partition("```")[0]))
        told = (two.world.gateway.url, two.other.url, session, key)
        run = subprocess.run([node, program, *told], capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 0, run.stderr
        said = json.loads(run.stdout)
        assert said["text"] == here.get(f"/v1/sessions/{session}/turns/1").json()["reply"]
    assert (said["name"], said["connections"] > 2) == ("done", True)


_CUTTING = """
const [one, other, session, token] = process.argv.slice(2);
let connections = 0;
const reach = globalThis.fetch;
globalThis.fetch = (url, options) => {
  const cut = new AbortController();
  setTimeout(() => cut.abort(), 250);
  return reach(connections++ % 2 ? url.replace(one, other) : url, { ...options, signal: cut.signal });
};
EXAMPLE
let text = "";
const heard = (name, data) => { text += name === "delta" ? data.text : ""; };
const end = await readTurn(one, session, "Hello", token, heard);
console.log(JSON.stringify({ text, name: end.name, connections }));
"""


def test_kill_9_ends_what_is_read_elsewhere_honestly_and_the_turn_is_played_again_once(two: Two) -> None:
    two.script("one two three four five six seven eight nine ten", delay_s=0.2)
    with two.here() as here, two.there() as there:
        session = two.world.open_session(here)
        first = turn_events(here, session, "Hello", key="a-key")
        seen = list(itertools.islice(first, 2))
        rest = follow(there, session, after=seen[-1].id)
        seen += itertools.islice(rest, 2)
        two.world.gateway.kill()
        killed = time.monotonic()
        seen += rest
        assert 1.0 < time.monotonic() - killed < 15.0, "not before the lease is over, and then soon"
        assert (seen[-1].name, json.loads(seen[-1].data)["code"]) == ("error", "turn_lost")
        assert json.loads(seen[-1].data)["retryable"] is True
        assert "one two three four five six seven eight nine ten".startswith(text(seen))
        assert len({event.id for event in seen}) == len(seen)
        again = list(turn_events(there, session, "Hello", key="a-key"))
        stored = there.get(f"/v1/sessions/{session}/turns").json()["items"]
    assert again[-1].name == "done"
    assert [turn["reply"] for turn in stored] == [text(again)]


def test_the_turns_of_a_stopping_gateway_end_for_readers_elsewhere_too(two: Two) -> None:
    two.script("one two three four five six seven eight nine ten", delay_s=0.2)
    with two.here() as here, two.there() as there:
        session = two.world.open_session(here)
        seen = list(itertools.islice(turn_events(here, session, "Hello", key="a-key"), 2))
        rest = follow(there, session, after=seen[-1].id)
        seen += itertools.islice(rest, 1)
        two.world.gateway.ask_to_stop()
        seen += rest
        assert seen[-1].name == "done"
        assert two.world.gateway.wait() == 0
        assert text(seen) == there.get(f"/v1/sessions/{session}/turns/1").json()["reply"]


def test_without_redis_the_turn_goes_on_and_is_refused_elsewhere_until_it_is_on_record(
    tmp_path: Path, database_url: str
) -> None:
    with world(tmp_path, database_url) as made, made.gateway.neighbour() as other:
        _lose_redis(Two(made, other))


def _lose_redis(two: Two) -> None:
    two.script("one two three four five six seven eight nine ten", delay_s=0.3)
    with two.here() as here, two.there() as there:
        session = two.world.open_session(here)
        events = turn_events(here, session, "Hello")
        seen = list(itertools.islice(events, 2))
        os.kill(two.world.redis.pid, signal.SIGKILL)
        refused = there.get(f"/v1/sessions/{session}/turns/1/events", headers=STREAM)
        assert (refused.status_code, refused.json()["code"]) == (503, "journal_unavailable")
        assert int(refused.headers["retry-after"]) >= 1
        seen += events
        assert seen[-1].name == "done"
        assert text(list(follow(there, session))) == text(seen)
