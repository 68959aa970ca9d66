"""No word that somebody wrote, no key and no address stands in the log, at its finest level, or among the figures."""

import json
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from tests.integration.edge.conftest import PAGE, Edge

WORD = "zwölfkampf-4711"
"""Stands in everything that is sent; nobody else would write it."""
PLAIN = "zwoelfkampf-4711"
"""Where only ASCII can stand."""
NOBODYS = "00000000-0000-4000-8000-000000000000"
MARKS = (WORD, PLAIN, json.dumps(WORD).strip('"'), "zw%C3%B6lfkampf", "zwoelfkampf")


def log_with(edge: Edge, since: int, mark: str, *, times: int = 1) -> str:
    """The log from this place on, once it holds the mark so often: a line is written behind its answer."""
    deadline = time.monotonic() + 10
    while (told := edge.world.gateway.log.read_bytes()[since:].decode()).count(mark) < times:
        assert time.monotonic() < deadline, told
        time.sleep(0.02)
    return told


def line_with(edge: Edge, since: int, mark: str) -> Mapping[str, Any]:
    (line,) = [line for line in log_with(edge, since, mark).splitlines() if mark in line]
    found: Mapping[str, Any] = json.loads(line)
    return found


@pytest.fixture
def since(edge: Edge) -> int:
    """Where the log ends before the test."""
    return edge.world.gateway.log.stat().st_size


def bodies() -> Iterator[tuple[str, bytes]]:
    scene = {"name": WORD, "script": WORD}
    scenario = {
        "title": WORD,
        "locale": "de",
        "persona": WORD,
        "instructions": WORD,
        "opening": WORD,
        "scenes": [scene],
        "rubric": {"criteria": [{"name": WORD, "description": WORD}]},
    }
    sent: list[Mapping[str, Any]] = [
        scenario,
        {"text": WORD},
        {"scene": WORD},
        {"name": WORD, "text": WORD},
        {"name": WORD, "guidance": WORD},
        {"questions": [WORD]},
        {"scenario_id": WORD, "drill_id": WORD, "metadata": {WORD: WORD}},
        {"model": WORD, "messages": [{"role": "user", "content": WORD}], "user": WORD, WORD: WORD},
        {"model": "smollm2", "messages": [{"role": "user", "content": WORD}], "stream": True},
        {"name": WORD, "phrases": [{"text": WORD, "id": WORD, "category": WORD}], "allowed": [WORD]},
        {"phrases": [{"text": WORD}], "texts": [WORD], "recent_turns": 5},
        {"text": WORD, "direction": "input"},
        {"input": WORD},
        {"decision": "false_alarm", "note": WORD, "effect": {"allow": {"list_id": NOBODYS, "phrase": WORD}}},
        {WORD: {WORD: [WORD]}},
    ]
    yield from (("application/json", json.dumps(body, ensure_ascii=False).encode()) for body in sent)
    yield "application/json", f'{{"text": "{WORD}'.encode()
    yield "application/json", WORD.encode("latin-1")
    yield f"text/{PLAIN}", WORD.encode()
    yield "text/plain", WORD.encode()


def headers(key: str, media_type: str) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {key}",
        "Content-Type": media_type,
        "Idempotency-Key": PLAIN,
        "Last-Event-ID": PLAIN,
        "X-Request-ID": f"two {PLAIN}",
        "X-Session-ID": PLAIN,
        "X-Forwarded-For": PLAIN,
        "traceparent": PLAIN,
        "Origin": f"https://{PLAIN}.example",
        "Cookie": f"{PLAIN}={PLAIN}",
        "User-Agent": PLAIN,
        PLAIN: PLAIN,
    }


def filled(path: str, session: str) -> Iterator[str]:
    """The path with words for its parameters, and with what exists."""
    words, real = path, path
    while "{" in words:
        before, _, rest = words.partition("{")
        words = before + WORD + rest.partition("}")[2]
    yield words
    if "{session_id}" in path:
        real = path.replace("{session_id}", session).replace("{turn}", "1")
        yield real


def asked(routes: Mapping[str, Any], session: str, edge: Edge) -> Iterator[tuple[str, str, str, tuple[str, bytes]]]:
    """Method, path, key and body: every kind of body from those who may most, one from the others."""
    keys = edge.world.seed.keys
    few = (keys.operator, f"dy_{PLAIN}_{PLAIN}", f"{PLAIN}.a.b")
    for path, operations in routes.items():
        for method, url in ((method.upper(), url) for method in operations for url in filled(path, session)):
            sent = list(bodies()) if method in ("POST", "PUT", "PATCH") else [("application/json", b"")]
            yield from ((method, url, key, body) for key in (keys.trainees[0], keys.instructor) for body in sent)
            yield from ((method, url, key, sent[0]) for key in few)


def test_what_is_sent_to_any_route_is_not_told(edge: Edge, since: int) -> None:
    keys = edge.world.seed.keys
    with edge.world.client() as client:
        session = edge.world.open_session(client)
        routes = client.get("/openapi.json").json()["paths"]
        edge.world.engines["replica-1"].script(reply=f"{WORD} is the answer.")
        answers = 0
        for method, url, key, (media_type, body) in asked(routes, session, edge):
            query = {} if b"{" in body else {WORD: WORD, "ticket": PLAIN}
            answer = client.request(method, url, params=query, content=body, headers=headers(key, media_type))
            assert answer.status_code < 500 or answer.status_code == 503, answer.text
            answers += 1
        edge.world.engines["replica-1"].reset()
        figures = client.get("/metrics").text
    assert answers > 500
    told = log_with(edge, since, '"event": "request"', times=answers)
    for mark in (*MARKS, keys.trainees[0], keys.instructor, keys.operator, keys.trainees[0].split("_", 2)[2]):
        assert mark not in told
        assert mark not in figures


def until_turns_are_taken(client: httpx.Client, edge: Edge) -> None:
    """A replica that has failed so often is left alone for a while."""
    path, deadline = f"/v1/sessions/{edge.world.open_session(client)}/turns", time.monotonic() + 30
    while client.post(path, json={"text": "Hello"}).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_what_breaks_is_not_told_either(edge: Edge, since: int) -> None:
    """An engine that answers nonsense, a client that leaves, and what is no HTTP."""
    engine = edge.world.engines["replica-1"]
    accept = {"Accept": "text/event-stream"}
    with edge.world.client() as client:
        engine.script(reply=WORD * 9, delay_s=0.05)
        path = f"/v1/sessions/{edge.world.open_session(client)}/turns"
        with client.stream("POST", path, json={"text": WORD}, headers=accept) as response:
            assert next(response.iter_raw())
        for fault in ("error", "cut", "refuse"):
            engine.script(reply=WORD * 9, fault=fault, after_chunks=1)
            path = f"/v1/sessions/{edge.world.open_session(client)}/turns"
            assert client.post(path, json={"text": WORD}).status_code >= 500
        engine.reset()
        until_turns_are_taken(client, edge)
    for said in (
        f"{PLAIN}\r\n\r\n",
        f"GET /{PLAIN} HTTP/1.1\r\n{PLAIN}\r\n\r\n",
        f"GET / HTTP/1.1\r\nHost: {PLAIN}/\r\n\r\n",
    ):
        with edge.connected() as safe:
            safe.sendall(said.encode())
            assert safe.recv(1000).startswith(b"HTTP/1.1 400 ")
    with socket.create_connection(edge.address) as plain:
        plain.sendall(f"GET /{PLAIN} HTTP/1.1\r\nHost: {PLAIN}\r\n\r\n".encode())
        plain.recv(100)
    told = log_with(edge, since, '"cut": true')
    assert not [mark for mark in MARKS if mark in told]


def test_of_the_client_only_its_network_is_told_as_the_proxy_names_it(edge: Edge, since: int) -> None:
    with edge.world.client() as client:
        client.get("/v1/scenarios", headers={"X-Forwarded-For": "203.0.113.77, 198.51.100.23"})
    line = line_with(edge, since, '"/v1/scenarios"')
    assert line["client"] == "198.51.100.0/24"
    assert line["role"] == "trainee"
    assert line["auth"] == "key"
    assert "198.51.100.23" not in log_with(edge, since, '"/v1/scenarios"')


def test_a_request_of_a_page_is_told_like_any_other(edge: Edge, since: int) -> None:
    with httpx.Client(base_url=edge.url, verify=edge.trust(), trust_env=False) as browser:
        asked = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
        assert browser.options("/v1/sessions", headers=asked).status_code == 204
    line = line_with(edge, since, '"OPTIONS"')
    assert (line["status"], line["route"]) == (204, "unmatched")
