"""The parts of a run."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.drill import Drill, Shape
from loadtests.domain.figures import Slice
from loadtests.domain.fleet_use import fleet_use
from loadtests.domain.presence import Presence
from loadtests.domain.rows import Row
from loadtests.domain.server import ReplicaSample
from loadtests.domain.slices import LEAST_TURNS, Scene, by_concurrency, by_replica, by_turn, knee, over_time
from tests.support.load_rows import a_failed_turn, a_session, a_turn

LOOKS = [
    ReplicaSample(at_s=at_s, replica=replica, up=True, preemptions=round(at_s), kv_usage=at_s / 100)
    for replica in ("replica-1", "replica-2")
    for at_s in (0.0, 10.0, 40.0)
]


def scene_of(turns: list[Row], looks: list[ReplicaSample] | None = None) -> Scene:
    ordered = sorted(turns, key=lambda turn: turn.started_s)
    return Scene(turns=ordered, presence=Presence(turns), fleet=fleet_use(looks or []))


def counted(slices: tuple[Slice, ...]) -> dict[float | str, tuple[int, int]]:
    return {each.key: (each.turns, each.failed) for each in slices}


def test_of_no_turns_there_are_no_parts() -> None:
    empty = scene_of([])
    assert over_time(empty) == by_turn(empty) == by_replica(empty) == by_concurrency(empty, drill=Drill()) == ()


@given(st.lists(st.floats(-20, 5000), min_size=1, max_size=80))
def test_spans_of_time_are_even_few_and_lose_no_turn(starts: list[float]) -> None:
    turns = [a_turn(number, at_s=at_s, trainee=number) for number, at_s in enumerate(starts)]
    spans = over_time(scene_of(turns))
    keys = [float(span.key) for span in spans]
    assert sum(span.turns for span in spans) == len(turns)
    assert len(spans) <= 62
    assert keys[0] <= min(starts) + 1e-9
    assert len({round(after - before, 6) for before, after in pairwise(keys)}) <= 1


def test_a_span_in_which_nothing_began_is_there_and_empty() -> None:
    spans = over_time(scene_of([a_turn(1, at_s=0.5), a_turn(2, at_s=60.5)], LOOKS))
    assert [span.key for span in spans] == [float(n) for n in range(61)]
    assert [span.turns for span in spans if span.turns] == [1, 1]
    assert (spans[30].ttft.count, spans[30].turns_per_s, spans[30].sessions) == (0, 0.0, 1)
    assert (spans[10].kv_usage, spans[10].preemptions) == (0.1, 20)
    assert (spans[11].kv_usage, spans[11].preemptions) == (None, 0)
    assert (spans[9].kv_usage, spans[39].preemptions) == (None, 0)


def test_a_single_moment_is_one_span() -> None:
    (span,) = over_time(scene_of([a_turn(at_s=3.0), a_failed_turn(2, at_s=3.0)]))
    assert (span.turns, span.failed) == (2, 1)
    assert [span.key, span.turns_per_s] == pytest.approx([3.0, 10.0])


def test_turns_are_counted_by_their_number() -> None:
    turns = [*a_session(3), *a_session(2, trainee=1), a_failed_turn(4), replace(a_turn(), turn=None)]
    slices = by_turn(scene_of(turns))
    assert counted(slices) == {1: (2, 0), 2: (2, 0), 3: (1, 0), 4: (1, 1)}
    assert (slices[0].cached_share, slices[1].cached_share) == (0.0, 1000 / 1100)
    assert (slices[3].cached_share, slices[3].ttft.p50) == (None, math.inf)
    assert slices[0].turns_per_s is None


def test_each_replica_has_its_turns_and_sessions_and_one_without_any_is_there() -> None:
    turns = [*a_session(3), *a_session(2, trainee=1), *a_session(1, trainee=2, replica="other"), a_failed_turn(9)]
    slices = by_replica(scene_of(turns, LOOKS))
    assert counted(slices) == {"other": (1, 0), "replica-1": (5, 0), "replica-2": (0, 0)}
    assert [each.sessions for each in slices] == [1, 2, 0]
    assert [each.kv_usage for each in slices] == [None, 0.4, 0.4]
    assert [each.preemptions for each in slices] == [None, 40, 40]


def test_levels_are_sessions_open_when_a_turn_began() -> None:
    alone, together = a_session(3), a_session(2, trainee=1, from_s=10.0)
    one, two = by_concurrency(scene_of([*alone, *together]), drill=Drill())
    assert [(level.key, level.turns, level.sessions) for level in (one, two)] == [(1, 1, 1), (2, 4, 2)]
    assert [one.turns_per_s, two.turns_per_s] == pytest.approx([1 / 10, 4 / 12.6])


def test_many_levels_are_put_together() -> None:
    turns = [each for n in range(130) for each in a_session(3, trainee=n, from_s=float(n))]
    levels = by_concurrency(scene_of(turns), drill=Drill())
    assert len(levels) <= 13
    assert [each.key for each in levels] == [*range(2, 23, 2), 23]
    assert sum(level.turns for level in levels) == len(turns)


def test_a_level_that_lasted_no_time_has_no_rate() -> None:
    instant = a_turn(ended_s=0.0)
    (level,) = by_concurrency(scene_of([instant]), drill=Drill())
    assert (level.turns, level.turns_per_s) == (1, None)


STAIRS = Drill(shape=Shape.STAIRCASE, stairs=(10, 20), stair_s=100.0)


def test_stairs_are_judged_once_their_newcomers_are_there() -> None:
    starts = [-5.0, 0.0, 24.0, 26.0, 99.0, 101.0, 130.0, 199.0, 210.0]
    turns = [a_turn(number, at_s=at_s) for number, at_s in enumerate(starts, start=1)]
    low, high = by_concurrency(scene_of(turns), drill=STAIRS)
    assert (low.key, low.turns, low.turns_per_s, low.sessions) == (10, 2, 2 / 75, 10)
    assert (high.key, high.turns, high.turns_per_s) == (20, 3, 3 / 85)


def test_a_stair_that_was_never_reached_is_empty() -> None:
    slices = by_concurrency(scene_of([a_turn(at_s=30.0)]), drill=STAIRS)
    assert counted(slices) == {10: (1, 0), 20: (0, 0)}


def test_the_knee_is_of_levels_with_enough_turns() -> None:
    def level(trainees: int, ttft_s: float, *, turns: int = LEAST_TURNS) -> Slice:
        (found,) = by_turn(scene_of([a_turn(first_s=ttft_s) for _ in range(turns)]))
        return replace(found, key=trainees, turns_per_s=trainees / 20)

    levels = [level(10, 0.3), level(20, 0.3), level(40, 3.0)]
    assert knee(levels) == 20
    assert knee([*levels[:2], level(40, 3.0, turns=LEAST_TURNS - 1)]) is None
    assert knee([replace(each, turns_per_s=None) for each in levels]) is None
