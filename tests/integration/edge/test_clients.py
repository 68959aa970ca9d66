"""The clients that people have, over HTTPS with a known authority: curl, httpx, a page's fetch, and openai's."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import httpx2
import openai
import pytest

from gateway.cli.event_stream import EventReader
from tests.integration.edge.conftest import PAGE, Edge
from tests.support.gateway_process import turn_events

SUPPORT = Path(__file__).parents[2] / "support"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def key_of(edge: Edge) -> str:
    return edge.world.seed.keys.trainees[0]


def session_of(edge: Edge) -> str:
    with edge.world.client() as client:
        return edge.world.open_session(client)


def node(edge: Edge, script: str, *arguments: str) -> list[dict[str, Any]]:
    """What a script prints, line by line."""
    environment = {**os.environ, "NODE_EXTRA_CA_CERTS": str(edge.authority_file)}
    command = ["node", str(SUPPORT / script), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def curl(edge: Edge, *arguments: str) -> str:
    command = ["curl", "--silent", "--show-error", "--noproxy", "*", "--cacert", str(edge.authority_file)]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout


def text_of(stream: str) -> str:
    reader = EventReader()
    return "".join(json.loads(event.data)["text"] for event in reader.feed(stream.encode()) if event.name == "delta")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_reads_a_turn(edge: Edge) -> None:
    key, session = ("-H", f"Authorization: Bearer {key_of(edge)}"), session_of(edge)
    head, _, body = curl(edge, "-i", *key, f"{edge.url}/v1/sessions/{session}").partition("\n\n")
    assert head.startswith("HTTP/1.1 200 ")
    assert json.loads(body)["id"] == session
    asked = ("-N", "--json", '{"text": "Hello from a shell"}', "-H", "Accept: text/event-stream")
    told = curl(edge, *key, *asked, f"{edge.url}/v1/sessions/{session}/turns")
    assert "event: done" in told
    second = told.split("\n\n")[1]
    last = second.partition("id: ")[2].partition("\n")[0]
    rest = curl(edge, *key, "-H", f"Last-Event-ID: {last}", f"{edge.url}/v1/sessions/{session}/turns/1/events")
    assert text_of(told) == text_of("\n\n".join((*told.split("\n\n")[:2], rest)))


def test_httpx_reads_a_turn(edge: Edge) -> None:
    with edge.world.client() as client:
        session = edge.world.open_session(client)
        events = list(turn_events(client, session, "Hello"))
    assert events[-1].name == "done"


async def test_many_clients_at_once_are_served_over_https(edge: Edge) -> None:
    headers = {"Authorization": f"Bearer {key_of(edge)}"}
    async with httpx.AsyncClient(base_url=edge.url, verify=edge.trust(), trust_env=False, headers=headers) as client:
        for _ in range(20):
            assert (await client.get("/v1/scenarios")).status_code == 200


@needs_node
def test_a_page_reads_a_turn_by_fetch_and_goes_on_where_it_broke_off(edge: Edge) -> None:
    session = session_of(edge)
    edge.world.engines["replica-1"].script(delay_s=0.02)
    try:
        (told,) = node(edge, "fetch_reader.mjs", edge.url, session, key_of(edge), "2")
    finally:
        edge.world.engines["replica-1"].reset()
    assert told["cut"] == 2
    with edge.world.client() as client:
        stored = client.get(f"/v1/sessions/{session}/turns/1").json()
    assert told["text"] == stored["reply"]
    assert told["events"][-1] == "done"
    places = [int(name.removeprefix("1-")) for name in told["ids"]]
    assert places == sorted(set(places))


@needs_node
def test_a_page_follows_a_turn_by_event_source_and_comes_back_with_a_new_ticket(edge: Edge) -> None:
    edge.world.engines["replica-1"].script(delay_s=0.02)
    try:
        with edge.world.client() as client:
            session = edge.world.open_session(client)
            accept, path = {"Accept": "text/event-stream"}, f"/v1/sessions/{session}/turns"
            with client.stream("POST", path, json={"text": "Hello"}, headers=accept) as response:
                assert next(response.iter_lines())
            (told,) = node(edge, "event_source.mjs", edge.url, session, "1", key_of(edge), PAGE, "2")
            stored = client.get(f"/v1/sessions/{session}/turns/1").json()
    finally:
        edge.world.engines["replica-1"].reset()
    assert (told["opened"], told["refused"]) == (2, [401])
    assert told["text"] == stored["reply"]
    assert told["events"][-1] == "done"
    assert len(set(told["ids"])) == len(told["ids"])


def test_a_page_of_an_allowed_origin_may_call_and_another_may_not(edge: Edge) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    with httpx.Client(base_url=edge.url, verify=edge.trust(), trust_env=False) as browser:
        allowed = browser.options("/v1/sessions", headers={"Origin": PAGE, **asked})
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (204, PAGE)
        refused = browser.get("/v1/sessions", headers={"Origin": PAGE})
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, PAGE)
        for origin in ("https://evil.example", "null"):
            strange = browser.options("/v1/sessions", headers={"Origin": origin, **asked})
            assert strange.status_code == 405
            assert not [name for name in strange.headers if name.startswith("access-control")]


def test_a_stream_carries_the_headers_of_its_origin(edge: Edge) -> None:
    session = session_of(edge)
    with edge.world.client() as client:
        path, accept = f"/v1/sessions/{session}/turns", {"Accept": "text/event-stream", "Origin": PAGE}
        with client.stream("POST", path, json={"text": "Hello"}, headers=accept) as response:
            assert response.headers["access-control-allow-origin"] == PAGE
            assert response.headers["x-content-type-options"] == "nosniff"
            assert response.headers["cache-control"] == "no-cache, no-transform"
            response.read()


def test_the_openai_client_talks_to_it(edge: Edge) -> None:
    with httpx2.Client(verify=edge.trust(), trust_env=False) as http:
        client = openai.OpenAI(base_url=f"{edge.url}/v1", api_key=edge.world.seed.keys.service, http_client=http)
        assert [model.id for model in client.models.list()] == ["smollm2"]
        whole = client.chat.completions.create(model="smollm2", messages=[{"role": "user", "content": "Hello"}])
        assert whole.choices[0].message.content
        pieces = client.chat.completions.create(
            model="smollm2", messages=[{"role": "user", "content": "Hello"}], stream=True
        )
        assert "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(model="none", messages=[{"role": "user", "content": "Hello"}])
