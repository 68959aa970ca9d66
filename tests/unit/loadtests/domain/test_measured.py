"""Turns become values of their sessions, or of their own."""

import math

import numpy as np

from loadtests.domain.drill import Drill
from loadtests.domain.figuring import figures_of
from loadtests.domain.limits import Limits
from loadtests.domain.measured import RunSeen, run_seen, side
from loadtests.domain.rows import Kind, Row
from tests.support.load_rows import a_failed_turn, a_session, a_turn


def seen(rows: list[Row]) -> RunSeen:
    return run_seen(rows, figures=figures_of(rows, drill=Drill()), limits=Limits())


ROWS = [
    *a_session(3, trainee=0),
    *a_session(2, trainee=1, first_s=0.9, last_s=9.9, started_s=0.0, prompt_tokens=1000, cached_tokens=0),
    a_failed_turn(3, at_s=30.0, trainee=1, session="s-1"),
    a_turn(kind=Kind.OPEN, trainee=2, session="", failure="http_503"),
    a_turn(kind=Kind.OPEN, trainee=2, session="", at_s=3.0, failure="http_503"),
    a_turn(kind=Kind.HOSTILE, trainee=3, session="", failure="let_in"),
]


def test_each_session_is_a_unit_and_each_that_was_not_opened_too() -> None:
    measured = side([seen(ROWS)], by_sessions=True)
    assert measured.units == (4,)
    assert measured.failing == 3
    assert sorted(len(each) for each in seen(ROWS).sessions) == [1, 1, 3, 3]


def test_every_time_is_there_once_and_failures_are_endless() -> None:
    measured = side([seen(ROWS)], by_sessions=True)
    assert measured.times["ttft"].values.tolist() == [0.5, 0.5, 0.5, 0.9, 0.9, math.inf, math.inf, math.inf]
    assert measured.times["bell_ttft"].values.tolist() == [0.5, 0.9, math.inf, math.inf]
    assert measured.times["longest_gap"].values.tolist()[:5] == [0.4] * 5
    assert measured.times["e2e"].values.tolist()[:5] == [2.5, 2.5, 2.5, 9.9, 9.9]


def test_a_reply_that_its_trainee_stopped_has_no_end() -> None:
    measured = side([seen([a_turn(finish="cancelled")])], by_sessions=True)
    assert measured.times["e2e"].values.tolist() == []
    assert measured.times["ttft"].values.tolist() == [0.5]


def test_shares_add_up_over_the_units() -> None:
    ratios = side([seen(ROWS)], by_sessions=True).ratios
    told = {name: (float(each.over.sum()), float(each.under.sum())) for name, each in ratios.items()}
    assert told == {
        "goodput_share": (3.0, 8.0),
        "cold_share": (1.0, 3.0),
        "cached_share": (1000.0 + 1100, 1000.0 + 1100 + 1200 + 2000 + 2000),
    }


def test_turns_that_do_not_tell_what_was_cached_are_neither_cold_nor_warm() -> None:
    told = [*a_session(2), a_turn(3, at_s=20.0, cached_tokens=None), *a_session(1, trainee=1, cached_tokens=None)]
    cold = side([seen(told)], by_sessions=True).ratios["cold_share"]
    assert (cold.over.tolist(), cold.under.tolist()) == ([0.0, 0.0], [1.0, 0.0])


def test_turns_by_themselves_are_units_too() -> None:
    measured = side([seen(ROWS), seen(a_session(2))], by_sessions=False)
    assert measured.units == (8, 2)
    assert measured.failing == 3
    assert not np.any(measured.ratios["cold_share"].under)


def test_a_run_without_turns_has_no_unit() -> None:
    measured = side([seen([])], by_sessions=True)
    assert measured.units == (0,)
    assert measured.ratios["goodput_share"].over.tolist() == []
