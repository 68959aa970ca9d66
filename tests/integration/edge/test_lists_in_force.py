"""Large phrase lists in a gateway with real stores: in force as soon as it is answered, and told nowhere."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.integration.edge.conftest import Edge

LISTS = "/v1/moderation/lists"
MANY = 20_000
WORD = "quarzkiesel"
"""Stands in every phrase; nobody else would write it."""


def phrases(*, of: str = "number") -> list[dict[str, object]]:
    return [{"text": f"{WORD} {of} {number}"} for number in range(MANY)]


@pytest.fixture
def staff(edge: Edge) -> Iterator[httpx.Client]:
    with edge.world.client(edge.world.seed.keys.instructor) as client:
        client.timeout = httpx.Timeout(60)
        yield client


@contextmanager
def longest_wait(edge: Edge) -> Iterator[list[float]]:
    """How long the slowest of many small requests took meanwhile."""
    over, waits = threading.Event(), [0.0]

    def ask() -> None:
        with edge.world.client() as client:
            while not over.is_set():
                began = time.perf_counter()
                client.get("/livez").raise_for_status()
                waits[0] = max(waits[0], time.perf_counter() - began)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield waits
    finally:
        over.set()
        asking.join()


def taken(edge: Edge, text: str) -> dict[str, Any]:
    with edge.world.client() as trainee:
        session = edge.world.open_session(trainee)
        answer = trainee.post(f"/v1/sessions/{session}/turns", json={"text": text})
        found: dict[str, Any] = answer.raise_for_status().json()
        return found


def test_twenty_thousand_phrases_hold_once_it_is_answered_and_are_told_nowhere(edge: Edge, staff: httpx.Client) -> None:
    since = edge.world.gateway.log.stat().st_size
    text = f"{WORD} number {MANY - 1}"
    assert taken(edge, text)["state"] == "completed"
    with longest_wait(edge) as waits:
        began = time.monotonic()
        kept = staff.post(LISTS, json={"name": "many", "phrases": phrases(), "live": True})
        assert kept.status_code == 201, kept.text
        assert taken(edge, text)["state"] == "blocked"
        of = f"{LISTS}/{kept.json()['id']}"
        added = staff.post(f"{of}/versions", json={"phrases": phrases(of="digit")})
        assert (added.status_code, added.json()["phrase_count"]) == (201, MANY)
        staff.put(f"{of}/live", json={"version": 2}).raise_for_status()
        assert taken(edge, text)["state"] == "completed"
        assert taken(edge, text.replace("number", "digit"))["state"] == "blocked"
        tried = staff.post("/v1/moderation/dry-run", json={"list_id": of.rpartition("/")[2], "texts": [text]})
        assert tried.json()["totals"]["changed"] == 0
        said = staff.get(f"{of}/versions/2").json()
        assert len(said["phrases"]) == MANY
        took = time.monotonic() - began
    assert took < 60
    assert waits[0] < 2
    assert staff.delete(of).status_code == 204
    assert taken(edge, text.replace("number", "digit"))["state"] == "completed"
    told = edge.world.gateway.log.read_bytes()[since:].decode()
    assert "/v1/moderation/lists" in told
    assert WORD not in told
    assert WORD not in staff.get("/metrics").text
    assert WORD not in staff.get("/v1/moderation/audit").text
