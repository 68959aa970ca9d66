"""The commands for the fleet against the API over real HTTP."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.cli import fleet as subject
from gateway.domain.replica_state import DrainState
from router.domain.decision import Attempt, Candidate, Decision
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command, Ended
from tests.integration.cli.wire_server import WireServer
from tests.support.scripted_desk import state

A, B = ReplicaId("replica-1"), ReplicaId("replica-2")


@pytest.fixture
def fleet(drillyard: Command, api: Running) -> Command:
    def run(*words: str) -> Ended:
        return drillyard("fleet", *words, "--base-url", api.house.base_url, "--key", api.key)

    return run


def test_the_list_shows_each_replica_and_what_is_amiss(fleet: Command, api: Running) -> None:
    drain = DrainState(1, 1, in_flight=2, sessions_left=3, seconds_left=17.2, may_stop=False)
    api.house.desk.known = [
        state("replica-1", is_draining=True, drain=drain),
        state("replica-2", health="down", reason="connection refused", sessions=None, kv_capacity_tokens=None),
        state("replica-3", warnings=("prefix caching is off",), is_draining=True, drain=replace(drain, may_stop=True)),
    ]
    ended = fleet("list")
    assert ended.code == 0, ended
    for shown in (
        "heard by 1 of 2 routers, 3 sessions and 2 turns left, 17 s to go",
        *("replica-1", "draining", "12288 of 100000", "may be stopped"),
        *("down", "connection refused", "?", "prefix caching is off"),
    ):
        assert shown in ended.out


def test_a_drain_is_ordered_and_undone(fleet: Command, api: Running) -> None:
    ordered = fleet("drain", "replica-1", "--within", "30")
    assert (ordered.code, ordered.out) == (
        0,
        "replica-1: heard by 1 of 1 router, 3 sessions and 1 turn left, 30 s to go\n",
    )
    assert api.house.desk.within_s == 30
    assert fleet("undrain", "replica-1").out == "replica-1 takes sessions again in a moment\n"
    assert api.house.desk.known[0].drain is None


def test_a_drain_is_undone_by_its_earlier_name_too(fleet: Command, api: Running) -> None:
    fleet("drain", "replica-1")
    assert fleet("undo", "replica-1").code == 0
    assert api.house.desk.known[0].drain is None


def test_waiting_shows_each_step_and_ends_when_the_replica_may_be_stopped(
    fleet: Command, api: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "LOOK_EVERY_S", 0.02)
    steps = iter([(2, 1, False), (2, 1, False), (0, 0, False), (0, 0, True)])
    _play(api, monkeypatch, lambda: next(steps))
    ended = fleet("drain", "replica-1", "--wait")
    assert ended.code == 0, ended
    assert [line.split(", ")[1] for line in ended.out.splitlines()[:-1]] == [
        "3 sessions and 1 turn left",
        "2 sessions and 1 turn left",
        "0 sessions and 0 turns left",
    ]
    assert ended.out.splitlines()[-1] == "replica-1: it may be stopped now"


def test_waiting_for_a_drain_that_is_undone_fails(
    fleet: Command, api: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "LOOK_EVERY_S", 0.02)
    _play(api, monkeypatch, lambda: None)
    ended = fleet("drain", "replica-1", "--wait")
    assert ended.code == 1
    assert "was undone" in ended.err


def _play(api: Running, monkeypatch: pytest.MonkeyPatch, step: Callable[[], tuple[int, int, bool] | None]) -> None:
    """Each look after the first, which answers the order, shows the next step of the drain."""
    desk, looks = api.house.desk, [0]
    asked = desk.replica

    async def replica(name: ReplicaId) -> object:
        found = await asked(name)
        if found.drain is not None:
            looks[0] += 1
            if looks[0] > 1:
                now = step()
                drain = (
                    found.drain
                    if now is None
                    else replace(found.drain, sessions_left=now[0], in_flight=now[1], may_stop=now[2])
                )
                found = replace(found, drain=None if now is None else drain)
        return found

    monkeypatch.setattr(desk, "replica", replica)


def test_a_turn_is_explained(fleet: Command, api: Running) -> None:
    turn = f"{api.session()}-1"
    api.house.desk.decisions[turn] = Decision(
        turn,
        "smollm2",
        at=0.0,
        pin=PinDecision.MOVED,
        generation=2,
        waited_ms=41.0,
        candidates=(
            Candidate(A, 3, 12_288, 1),
            Candidate(B, refused="its breaker is open"),
        ),
        attempts=[
            Attempt(B, "pinned", "EngineBroke", "the answer was cut off"),
            Attempt(A, "pinned replica failed", "completed", continued=True),
        ],
    )
    assert fleet("why", turn).out.splitlines() == [
        f"turn {turn}: smollm2, pin moved, generation 2, waited 41 ms for room",
        "  1. replica-2, because pinned: EngineBroke (the answer was cut off)",
        "  2. replica-1, because pinned replica failed, which went on with the reply: completed",
        "  looked at:",
        "    replica-1: 3 sessions, 12288 KV tokens, 1 in flight",
        "    replica-2: ? sessions, ? KV tokens, ? in flight: not taken, its breaker is open",
    ]


@pytest.mark.parametrize("words", [("drain", "nobody"), ("undrain", "nobody"), ("why", "nobody")], ids=" ".join)
def test_what_is_not_there_is_named(fleet: Command, words: tuple[str, ...]) -> None:
    ended = fleet(*words)
    assert ended.code == 1
    assert "_not_found" in ended.err


def test_a_server_that_is_not_ours_is_named(drillyard: Command, server: WireServer) -> None:
    ended = drillyard("fleet", "list", "--base-url", server.base_url, "--key", "k")
    assert ended.code == 1
    assert f"{server.base_url} is not a `drillyard serve`" in ended.err


def test_the_key_of_a_running_stack_is_found(drillyard: Command, api: Running, tmp_path: Path) -> None:
    (tmp_path / ".drillyard").mkdir()
    told = {"base_url": api.house.base_url, "keys": {"operator": api.key, "trainees": []}}
    (tmp_path / ".drillyard" / "ready.json").write_text(json.dumps(told))
    assert "replica-1" in drillyard("fleet", "list").out
    assert "no operator's key" in drillyard("fleet", "list", "--base-url", "http://127.0.0.1:1").err


@pytest.mark.parametrize("word", ["list", "drain", "undrain", "why", "status", "plan", "scale"])
def test_each_command_shows_an_example(drillyard: Command, word: str) -> None:
    assert f"drillyard fleet {word}" in drillyard("fleet", word, "--help").out
