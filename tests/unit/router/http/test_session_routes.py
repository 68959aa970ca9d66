"""Ending and warming sessions, and asking why."""

import json
from collections.abc import Mapping

from router.domain.decision import Attempt, Decision
from router.domain.exchange import Call
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Pin
from router.errors import DecisionsUnavailable
from router.http.access import Access
from router.http.app import RouterApp
from router.http.generating import Generating
from router.http.session_routes import SessionRoutes
from tests.unit.router.http.caller import Caller, FakeCarrier

A = ReplicaId("a")


class FakeKeeper:
    def __init__(self) -> None:
        self.ended: list[AffinityKey] = []
        self.warmed: list[tuple[AffinityKey, Call]] = []
        self.is_away = False

    async def pins(self, key: AffinityKey) -> Mapping[str, Pin]:
        return {} if key in self.ended else {"small": Pin(A, 2), "large": Pin(A, 1)}

    async def end(self, key: AffinityKey) -> None:
        self.ended.append(key)

    async def prewarm_call(self, key: AffinityKey, call: Call) -> bool:
        self.warmed.append((key, call))
        return True

    async def decision(self, request_id: str) -> Decision | None:
        if self.is_away:
            raise DecisionsUnavailable
        return Decision(request_id, "small", 1.0, attempts=[Attempt(A, "pinned")]) if request_id == "r-1" else None


def caller(keeper: FakeKeeper) -> Caller:
    generating = Generating(router=FakeCarrier(), body_limit=100)
    return Caller(
        RouterApp(generating=generating, routes=SessionRoutes(keeper).routes(), access=Access(), body_limit=100)
    )


async def test_a_session_shows_its_pins_until_it_ends() -> None:
    keeper = FakeKeeper()
    pins = (await caller(keeper).call("GET", "/sessions/s%2F1")).json()["pins"]
    assert pins == [
        {"model": "large", "replica": "a", "generation": 1},
        {"model": "small", "replica": "a", "generation": 2},
    ]
    assert (await caller(keeper).call("DELETE", "/sessions/s%2F1")).status == 204
    assert keeper.ended == ["s/1"]
    assert (await caller(keeper).call("GET", "/sessions/s%2F1")).json()["pins"] == []


async def test_a_key_that_cannot_be_one_is_refused() -> None:
    assert (await caller(FakeKeeper()).call("DELETE", "/sessions/" + "x" * 257)).code == "invalid_request"


async def test_a_prewarm_takes_the_body_of_a_turn() -> None:
    keeper = FakeKeeper()
    heard = await caller(keeper).post("/sessions/s-1/prewarm", {"model": "small", "messages": []})
    assert (heard.status, heard.json()) == (202, {"scheduled": True})
    ((key, call),) = keeper.warmed
    assert (key, call.model, json.loads(call.body)["messages"]) == ("s-1", "small", [])
    assert (await caller(keeper).post("/sessions/s-1/prewarm", {})).json()["error"]["param"] == "model"


async def test_a_decision_is_told_while_it_is_kept() -> None:
    keeper = FakeKeeper()
    found = (await caller(keeper).call("GET", "/decisions/r-1")).json()
    assert (found["request_id"], found["attempts"][0]["replica"]) == ("r-1", "a")
    assert (await caller(keeper).call("GET", "/decisions/r-2")).status == 404
    keeper.is_away = True
    assert (await caller(keeper).call("GET", "/decisions/r-1")).code == "decisions_unavailable"
