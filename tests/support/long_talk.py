"""Long sessions over HTTP, on simulated replicas: played turn by turn, with a think time after each."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import httpx

from tests.support.gateway_process import World
from tests.support.simulator_process import SimulatorProcess

ASKING = "The role-play pauses here"
"""What the request for a note says, and no turn does."""

WINDOW, REPLY = 4096, 48
SCENARIO: Mapping[str, Any] = {
    "title": "A long call",
    "locale": "en-US",
    "persona": "You are Dana, a customer on the phone. Answer in one or two sentences.",
    "opening": "Hello? My coffee machine has stopped working again.",
    "scenes": [
        {"name": "call", "script": "The machine shows a red light."},
        {"name": "visit", "script": "The technician stands at the door."},
    ],
    "limits": {"max_turns": 50, "max_reply_tokens": REPLY},
}

Messages = list[dict[str, str]]

_PREWARMS = "drillyard_router_prewarms_total"


@dataclass
class Talk:
    """One session, and what the replicas were sent for it."""

    world: World
    client: httpx.Client
    session: str
    turns: list[dict[str, Any]] = field(default_factory=list)
    _before: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        self._before = self._done()

    @property
    def path(self) -> str:
        return f"/v1/sessions/{self.session}"

    def play(self, text: str) -> dict[str, Any]:
        """One turn, asked again while the session is told to be busy or nobody is there."""
        deadline = time.monotonic() + 30
        while True:
            answer = self.client.post(f"{self.path}/turns", json={"text": text})
            if answer.is_success:
                turn: dict[str, Any] = answer.json()
                self.turns.append(turn)
                return turn
            assert "retry-after" in answer.headers, answer.text
            assert time.monotonic() < deadline, answer.text
            time.sleep(0.05)

    def think(self) -> None:
        """Until everything that a turn has left to be done is done: a note is written, its prompt made warm."""
        wait_until(self._is_thought)
        self._before = self._done()

    def fold(self) -> None:
        """Until what was due is folded, warm or not."""
        wait_until(lambda: metrics(self.client)["drillyard_compactions_running"] == 0)

    def _is_thought(self) -> bool:
        if metrics(self.client)["drillyard_compactions_running"]:
            return False
        folded, warmed = self._done()
        return folded == self._before[0] or warmed > self._before[1]

    def _done(self) -> tuple[float, float]:
        """Notes of the tutor, and prewarms, that this process has seen."""
        seen = metrics(self.client)
        folded = seen.get('drillyard_compactions_total{outcome="folded"}', 0.0)
        return folded, sum(value for name, value in seen.items() if name.startswith(_PREWARMS))

    def sent(self) -> list[dict[str, Any]]:
        """The requests for turns, in their order, whichever replica had them."""
        turns = [one for one in self.requests() if one["request_id"].removeprefix(f"{self.session}-").isdigit()]
        return sorted(turns, key=lambda one: int(one["request_id"].rsplit("-", 1)[1]))

    def asked_for_notes(self) -> list[dict[str, Any]]:
        return [one for one in self.requests() if ASKING in one["messages"][-1]["content"]]

    def requests(self) -> list[dict[str, Any]]:
        """All that the replicas were asked for the session, each with its messages."""
        found = [one for simulator in self.world.simulators.values() for one in simulator.requests()]
        return [
            {**one, "messages": json.loads(one["body"])["messages"]} for one in found if one["session"] == self.session
        ]

    def context(self) -> dict[str, Any]:
        return self.world.context(self.session)

    def notes(self) -> list[dict[str, Any]]:
        notes: list[dict[str, Any]] = self.context()["notes"]
        return notes

    def home(self) -> SimulatorProcess:
        return self.world.simulators[self.turns[-1]["replica"]]

    def stored(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        cursor = None
        while True:
            query = {"limit": "100"} | ({"cursor": cursor} if cursor else {})
            page = self.client.get(f"{self.path}/turns", params=query).json()
            items += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return items


def begin(world: World, client: httpx.Client, **changes: object) -> Talk:
    with world.client(world.seed.keys.instructor) as instructor:
        scenario = instructor.post("/v1/scenarios", json={**SCENARIO, **changes})
        scenario.raise_for_status()
    answer = client.post("/v1/sessions", json={"scenario_id": scenario.json()["id"]})
    answer.raise_for_status()
    return Talk(world, client, answer.json()["id"])


def metrics(client: httpx.Client) -> dict[str, float]:
    """Every figure by its name and labels."""
    lines = (line.rsplit(" ", 1) for line in client.get("/metrics").text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in lines}


def digest_of(messages: Messages) -> str:
    """As the context tells it: SHA-256 over roles and contents."""
    told = [[message["role"], message["content"]] for message in messages]
    return sha256(json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def wait_until(holds: Callable[[], bool], *, within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.01)
