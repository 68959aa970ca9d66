"""What a target says of itself before it is loaded."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.conduct.asking import (
    Scenario,
    asked_target,
    chosen,
    replica_facts,
    silent,
    speed_up_of,
    window_of,
    with_fleet,
)
from loadtests.conduct.order import DrillFailed
from loadtests.domain.drill import Drill, Shape, Wire
from loadtests.target import Replica, Target
from tests.support.engine_process import free_port
from tests.support.pages import Pages, pages

ANGRY = Scenario("1a", "An angry customer", "en-GB", 12)
LATE = Scenario("2b", "The late parcel", "en-US", None)
CHINESE = Scenario("3c", "愤怒的客户", "zh-CN", None)
TURNS, CHAT = Drill(), Drill(wire=Wire.CHAT)
ALL = (ANGRY, LATE, CHINESE)

FIRST = {"id": "1a", "title": "An angry customer", "locale": "en-GB", "limits": {"max_turns": 12}}
SECOND = {"id": "2b", "title": "Two", "locale": "zh", "persona": "P", "instructions": "I", "scenes": [{"script": "S"}]}
TWO_PAGES = {
    "/v1/scenarios?limit=100": json.dumps({"items": [FIRST], "next_cursor": "x"}),
    "/v1/scenarios?limit=100&cursor=x": json.dumps({"items": [SECOND], "next_cursor": None}),
}


def aim(served: Pages, **more: object) -> Target:
    known = Target(base_urls=(served.url,), keys=("dy_1",), gateway_url=served.url)
    return replace(known, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "found"),
    [("1A", ANGRY), ("en-us", LATE), ("zh", CHINESE), ("the late parcel", LATE), ("angry", ANGRY), ("客户", CHINESE)],
)
def test_a_scenario_by_id_locale_language_or_title(asked: str, found: Scenario) -> None:
    assert chosen(ALL, asked) == found


@pytest.mark.parametrize(
    ("asked", "why"), [("en", "several scenarios"), ("fr", "no scenario is named"), ("", "give --scenario, one of 1a")]
)
def test_what_is_not_one_is_told_with_what_there_is(asked: str, why: str) -> None:
    with pytest.raises(DrillFailed, match=why):
        chosen(ALL, asked)


def test_a_single_one_need_not_be_named() -> None:
    assert chosen((LATE,), "") == LATE
    with pytest.raises(DrillFailed, match="no scenario"):
        chosen((), "")


def test_scenarios_are_read_page_by_page_with_a_trainees_key() -> None:
    with pages(TWO_PAGES) as served:
        assert asked_target(aim(served, scenario="zh"), drill=TURNS, most_turns=99).scenario == "2b"
        assert {key for _, key in served.asked} == {"Bearer dy_1"}


def test_a_scenario_that_would_end_the_drill_is_refused() -> None:
    with pages(TWO_PAGES) as served:
        assert asked_target(aim(served, scenario="1a"), drill=TURNS, most_turns=12).scenario == "1a"
        with pytest.raises(DrillFailed, match="ends after 12 turns"):
            asked_target(aim(served, scenario="1a"), drill=TURNS, most_turns=13)


def test_a_chat_gets_the_first_model_and_begins_with_the_scenarios_words() -> None:
    with pages({**TWO_PAGES, "/v1/models": '{"data": [{"id": "smollm2"}, {"id": "other"}]}'}) as served:
        found = asked_target(aim(served, scenario="zh", instructor_key="dy_i"), drill=CHAT, most_turns=9)
        assert (found.model, found.system) == ("smollm2", "P\n\nI\n\nS")
        named = asked_target(aim(served, model="mine", system="Be kind."), drill=CHAT, most_turns=9)
        assert (named.model, named.system) == ("mine", "Be kind.")


def test_nothing_is_put_before_prompts_of_a_given_length() -> None:
    with pages({**TWO_PAGES, "/v1/models": '{"data": [{"id": "m"}]}'}) as served:
        drill = Drill(shape=Shape.LONG_PROMPT, wire=Wire.CHAT)
        assert asked_target(aim(served, scenario="zh", instructor_key="dy_i"), drill=drill, most_turns=9).system == ""


def test_elsewhere_a_chat_begins_with_nothing() -> None:
    with pages({"/v1/models": '{"data": [{"id": "m"}]}'}) as served:
        assert asked_target(aim(served), drill=CHAT, most_turns=9).system == ""


@pytest.mark.parametrize("models", ["{}", '{"data": []}', '{"data": [1]}'])
def test_no_model_is_an_error(models: str) -> None:
    with pages({"/v1/models": models}) as served, pytest.raises(DrillFailed, match="--model"):
        asked_target(aim(served), drill=CHAT, most_turns=1)


def test_nobody_there_is_an_error() -> None:
    nowhere = Target(base_urls=(f"http://127.0.0.1:{free_port()}",), keys=("dy_1",))
    with pytest.raises(DrillFailed, match="does not answer"):
        asked_target(nowhere, drill=TURNS, most_turns=1)


def test_replicas_tell_their_version_and_simulated_ones_their_speed() -> None:
    state = json.dumps({"profile": "p", "provenance": "a guess", "speed_up": 4.0, "seed": 0})
    models = '{"data": [{"id": "m", "max_model_len": 4096}]}'
    told = {"/version": '{"version": "0.32.0"}', "/sim/state": state, "/v1/models": models}
    with pages(told) as sim, pages({}) as mute:
        target = aim(sim, replicas=(Replica("a", sim.url), Replica("b", mute.url), Replica("c", "http://10.0.0.1")))
        assert (speed_up_of(target), window_of(target)) == (4.0, 4096)
        assert replica_facts(target) == [
            {"id": "a", "window_tokens": 4096, "version": "0.32.0", **json.loads(state)},
            {"id": "b"},
            {"id": "c"},
        ]
        assert silent(replica_facts(target)) == ("b", "c")


def test_an_operator_is_told_the_replicas_of_a_server_elsewhere() -> None:
    with pages({"/sim/state": '{"speed_up": 4.0}'}) as sim, pages({}) as served:
        far = {"id": "b", "url": "http://10.0.0.1:8000"}
        served.by_path["/v1/fleet"] = json.dumps({"replicas": [{"id": "a", "url": f"{sim.url}/"}, far, {"id": "c"}, 7]})
        found = with_fleet(aim(served, operator_key="dy_op"))
        assert found.replicas == (Replica("a", sim.url),)
        assert speed_up_of(found) == 4.0
        assert ("/v1/fleet", "Bearer dy_op") in served.asked


def test_what_a_ready_file_names_or_no_operator_asks_for_is_left_as_it_is(tmp_path: Path) -> None:
    with pages({"/v1/fleet": '{"replicas": [{"id": "a", "url": "http://127.0.0.1:1"}]}'}) as served:
        for known in (aim(served), aim(served, operator_key="dy_op", ready_file=tmp_path / "ready.json")):
            assert with_fleet(known) == known
        assert served.asked == []


@pytest.mark.parametrize("told", ["no JSON", '{"replicas": 7}', None])
def test_a_server_that_tells_no_fleet_need_not_be_a_drillyard(told: str | None) -> None:
    with pages({} if told is None else {"/v1/fleet": told}) as served:
        known = aim(served, operator_key="dy_op", replicas=(Replica("x", served.url),))
        assert with_fleet(known) == known


def test_real_replicas_have_no_speed_of_their_own() -> None:
    nobody = Target(base_urls=("http://127.0.0.1:1",))
    assert (speed_up_of(nobody), window_of(nobody)) == (None, None)


def test_replicas_of_two_speeds_cannot_be_played_together() -> None:
    with pages({"/sim/state": '{"speed_up": 1}'}) as slow, pages({"/sim/state": '{"speed_up": 2}'}) as fast:
        target = aim(slow, replicas=(Replica("a", slow.url), Replica("b", fast.url)))
        with pytest.raises(DrillFailed, match="several speeds of time: 1, 2"):
            speed_up_of(target)
