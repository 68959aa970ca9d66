"""What a step gave: the highest stair below which every stair held, and the figures of that stair."""

import json
import math

import pytest

from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.domain.rows import Kind, Row
from loadtests.simulator.profile_files import load
from loadtests.story.measured import Given, given_by
from loadtests.story.profiles import AFTER
from loadtests.story.steps import STEPS

PROFILE = load(AFTER)
STAIR_S = 100.0


def stair(trainees: int, p95: float | None, *, turns: int = 50, failed: int = 0) -> Slice:
    return Slice(
        key=trainees,
        turns=turns,
        failed=failed,
        ttft=Spread(count=turns, p50=None if p95 is None else p95 / 2, p95=p95),
        e2e=Spread(),
        tpot=Spread(count=turns, p50=0.02),
        cached_share=0.9,
    )


def row(at_s: float, session: str = "a", *, prompt: int = 1000, cached: int = 900, failure: str | None = None) -> Row:
    return Row(
        kind=Kind.TURN,
        worker=0,
        trainee=0,
        session=session,
        planned_s=at_s,
        started_s=at_s,
        ended_s=at_s + 1,
        prompt_tokens=prompt,
        cached_tokens=cached,
        completion_tokens=100,
        failure=failure,
    )


def given(stairs: list[Slice], rows: list[Row] | None = None) -> Given:
    figures = Figures(by_concurrency=tuple(stairs), preemptions=3)
    return given_by(STEPS[0], figures, rows or [], PROFILE, cards=2, stair_s=STAIR_S)


def test_stable_is_the_highest_stair_below_which_every_stair_held() -> None:
    found = given([stair(8, 0.4), stair(16, 0.9), stair(24, 2.0), stair(32, 0.5)])
    assert found.stable_per_card == 8
    assert found.ttft_p95_s == 0.9
    assert found.fails_with == "first token p95 2.0 s"
    assert found.gpu_minutes_per_drill == pytest.approx(30 / 8)


def test_a_failed_turn_is_no_holding_however_quick_the_others_are() -> None:
    rows = [row(150.0, failure="http_400"), row(160.0, failure="http_400"), row(170.0, failure="timeout")]
    found = given([stair(8, 0.4), stair(16, 0.4, failed=3)], rows)
    assert found.stable_per_card == 4
    assert found.fails_with == "3 of 50 turns failed, most with http_400"


def test_a_turn_that_fails_while_newcomers_come_fails_its_stair_too() -> None:
    rows = [row(101.0, failure="http_500"), row(299.0, failure="timeout")]
    found = given([stair(8, 0.4), stair(16, 0.4), stair(24, 0.4)], rows)
    assert (found.stable_per_card, [each.failed for each in found.stairs]) == (4, [0, 1, 1])
    assert found.fails_with == "1 of 50 turns failed, most with http_500"


def test_what_comes_behind_the_last_stair_belongs_to_it() -> None:
    found = given([stair(8, 0.4), stair(16, 0.4)], [row(-0.1), row(205.0, prompt=3000), row(206.0, failure="timeout")])
    assert [each.failed for each in found.stairs] == [0, 1]
    assert found.prompt_tokens == 1000


def test_where_none_held_the_figures_are_those_of_the_lowest() -> None:
    found = given([stair(8, 3.0), stair(16, 9.0)])
    assert (found.stable_per_card, found.ttft_p95_s, found.gpu_minutes_per_drill) == (0, 3.0, None)
    assert found.fails_with == "first token p95 3.0 s"
    assert found.price_per_drill(2.0) is None


def test_where_all_held_nothing_failed() -> None:
    found = given([stair(8, 0.4), stair(16, 1.5)])
    assert (found.stable_per_card, found.fails_with) == (8, "")
    assert found.price_per_drill(2.0) == pytest.approx(2.0 * 30 / 8 / 60)


def test_a_stair_without_turns_does_not_hold() -> None:
    assert given([stair(8, None, turns=0)]).fails_with == "no turn was answered"
    assert given([stair(8, None)]).fails_with == "no turn was answered"


def test_of_no_stair_nothing_is_known() -> None:
    found = given([])
    assert (found.stable_per_card, found.ttft_p50_s, found.fails_with, found.session_gb) == (0, None, "", None)


def test_tokens_and_memory_are_those_of_the_stable_stair() -> None:
    rows = [
        row(10.0, prompt=5, cached=0),
        row(110.0, "a", prompt=1000, cached=900),
        row(120.0, "a", prompt=1200, cached=1000),
        row(130.0, "b", prompt=2000, cached=1500),
        row(240.0, "b", failure="timeout", prompt=0),
        row(210.0, "a", prompt=9000, cached=0),
    ]
    found = given([stair(8, 0.4), stair(16, 0.4), stair(24, 2.0)], rows)
    assert found.prompt_tokens == pytest.approx((1000 + 1200 + 2000) / 3)
    assert found.computed_tokens == pytest.approx((100 + 200 + 500) / 3)
    assert found.session_gb == pytest.approx((1300 + 2100) / 2 * 98_304 / 1e9)


def test_it_can_be_told_as_json_also_where_a_first_token_never_came() -> None:
    told = given([stair(8, math.inf)]).as_json()
    assert json.loads(json.dumps(told, allow_nan=False))["ttft_p95_s"] == "inf"
    assert json.loads(json.dumps(told, allow_nan=False))["stairs"][0]["ttft_p95_s"] == "inf"
