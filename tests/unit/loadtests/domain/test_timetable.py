"""The timetable follows from the drill alone."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.drill import Crowd, Drill, Shape, Wire
from loadtests.domain.part import Act, Ask, Behaviour, Part
from loadtests.domain.timetable import last_planned_s, timetable
from loadtests.domain.trace import Arrival

CROWD = Crowd(leavers=0.1, reconnecting=0.2, impatient=0.1, hostile=0.1)
DRILLS = st.builds(
    Drill,
    shape=st.sampled_from([Shape.CLASS, Shape.SOAK, Shape.RECOVERY, Shape.STAIRCASE, Shape.KV, Shape.LONG_OUTPUT]),
    trainees=st.integers(1, 20),
    turns=st.tuples(st.integers(1, 4), st.integers(4, 8)),
    think_s=st.floats(0, 30),
    allowance_s=st.floats(0, 10),
    reaction_s=st.floats(0, 10),
    lobby_s=st.floats(0, 20),
    stairs=st.just((2, 5, 9)),
    stair_s=st.floats(5, 120),
    crowd=st.just(CROWD),
    seed=st.integers(0, 1000),
)


def asks_of(part: Part) -> list[Ask]:
    return [ask for visit in part.visits for ask in visit.asks]


@given(DRILLS)
def test_the_same_drill_has_the_same_timetable_and_everybody_has_a_number(drill: Drill) -> None:
    parts = timetable(drill)
    assert parts == timetable(drill)
    assert [part.trainee for part in parts] == list(range(len(parts)))


@given(DRILLS)
def test_whoever_plays_opens_before_asking_and_leaves_time_for_a_reply(drill: Drill) -> None:
    for part in timetable(drill):
        assert all(visit.asks and visit.opens_s <= visit.asks[0].at_s for visit in part.visits)
        assert all(after.at_s - before.at_s >= drill.allowance_s - 1e-6 for before, after in pairwise(asks_of(part)))


@given(DRILLS, st.integers(1, 10))
def test_who_else_plays_changes_nothing_for_a_trainee(drill: Drill, more: int) -> None:
    alone = replace(drill, crowd=Crowd(), shape=Shape.CLASS, lobby_s=0)
    fuller = replace(alone, trainees=alone.trainees + more)
    assert timetable(fuller)[: alone.trainees] == timetable(alone)


def test_another_seed_is_another_class() -> None:
    assert timetable(Drill(seed=1)) != timetable(Drill(seed=2))


def test_a_single_trainee_is_alone_whatever_the_class() -> None:
    assert len(timetable(Drill(shape=Shape.SINGLE, trainees=30))) == 1


def test_a_class_opens_in_the_lobby_one_after_the_other_and_reacts_to_the_bell() -> None:
    parts = timetable(Drill(trainees=500, lobby_s=10, reaction_s=5))
    opens = [part.visits[0].opens_s for part in parts]
    assert (opens[0], opens == sorted(opens), max(opens) < 0) == (-10, True, True)
    assert median(asks_of(part)[0].at_s for part in parts) == pytest.approx(5, rel=0.1)


def test_without_reaction_all_ask_at_the_very_bell() -> None:
    assert {asks_of(part)[0].at_s for part in timetable(Drill(reaction_s=0))} == {0}


def test_between_two_messages_lie_the_allowance_and_the_time_to_think() -> None:
    parts = timetable(Drill(trainees=300, allowance_s=8, think_s=20))
    between = [after.at_s - before.at_s for part in parts for before, after in pairwise(asks_of(part))]
    assert fmean(between) == pytest.approx(28, rel=0.02)


def test_sessions_have_turns_from_the_least_to_the_most() -> None:
    counts = {part.asks for part in timetable(Drill(trainees=300, turns=(3, 5)))}
    assert counts == {3, 4, 5}


def test_a_crowd_has_exactly_its_shares() -> None:
    parts = timetable(Drill(trainees=50, crowd=CROWD))
    assert Counter(part.behaviour for part in parts) == {
        Behaviour.STEADY: 25,
        Behaviour.LEAVER: 5,
        Behaviour.RECONNECTING: 10,
        Behaviour.IMPATIENT: 5,
        Behaviour.HOSTILE: 5,
    }


def test_each_behaves_as_what_it_is() -> None:
    acts = {
        Behaviour.STEADY: {Act.TAKE},
        Behaviour.LEAVER: {Act.TAKE},
        Behaviour.RECONNECTING: {Act.CUT, Act.TAKE},
        Behaviour.IMPATIENT: {Act.TAKE, Act.CANCEL, Act.TWICE, Act.BESIDE},
        Behaviour.HOSTILE: {Act.HOSTILE},
    }
    parts = timetable(Drill(trainees=50, crowd=CROWD))
    for behaviour, expected in acts.items():
        asks = [ask for part in parts if part.behaviour is behaviour for ask in asks_of(part)]
        assert {ask.act for ask in asks} == expected
        assert all(ask.after >= 1 for ask in asks if ask.act not in {Act.TAKE, Act.HOSTILE})


def test_a_leaver_goes_early_and_without_a_word() -> None:
    parts = timetable(Drill(trainees=60, turns=(6, 6), crowd=Crowd(leavers=1.0)))
    assert {part.asks for part in parts} == {1, 2, 3, 4, 5}
    assert not any(part.visits[0].closes for part in parts)


@pytest.mark.parametrize("turns", [1, 2])
def test_a_leaver_of_one_turn_takes_it_and_of_two_the_first(turns: int) -> None:
    parts = timetable(Drill(trainees=20, turns=(turns, turns), crowd=Crowd(leavers=1.0)))
    assert {part.asks for part in parts} == {1}


def test_a_staircase_has_each_stairs_trainees_from_its_bell_to_the_very_end() -> None:
    parts = timetable(Drill(shape=Shape.STAIRCASE, stairs=(2, 5, 9), stair_s=100, turns=(2, 2)))
    first = [asks_of(part)[0].at_s for part in parts]
    assert all(0 <= at < 100 for at in first[:2])
    assert all(100 <= at < 200 for at in first[2:5])
    assert all(200 <= at < 300 for at in first[5:])
    assert [part.visits[0].opens_s for part in parts[2:5]] == pytest.approx([90, 90 + 10 / 3, 90 + 20 / 3])
    assert all(len(part.visits) > 1 for part in parts[:5])
    assert all(part.last_s < 300 for part in parts)
    assert last_planned_s(parts) > 240


def test_in_a_soak_whoever_ends_is_followed_by_another_until_the_end() -> None:
    parts = timetable(Drill(shape=Shape.SOAK, trainees=3, turns=(2, 3), stair_s=600))
    for part in parts:
        assert all(after.opens_s > before.asks[-1].at_s for before, after in pairwise(part.visits))
        assert 500 < part.last_s < 600


def test_a_soak_without_any_waiting_comes_to_its_end() -> None:
    (part,) = timetable(
        Drill(shape=Shape.SOAK, trainees=1, turns=(1, 1), think_s=0, allowance_s=0, reaction_s=0, stair_s=10)
    )
    assert [visit.asks[0].at_s for visit in part.visits] == list(range(10))


def test_long_prompts_are_shares_of_the_window_and_what_does_not_fit_must_be_refused() -> None:
    drill = Drill(shape=Shape.LONG_PROMPT, wire=Wire.CHAT, window_tokens=1000, turns=(2, 2), reply_tokens=64)
    parts = timetable(drill)
    asks = [asks_of(part) for part in parts]
    assert [[ask.message_tokens for ask in each] for each in asks] == [
        [250] * 2,
        [500] * 2,
        [750] * 2,
        [950] * 2,
        [1010] * 2,
    ]
    assert [each[0].act for each in asks] == [Act.TAKE] * 4 + [Act.TOO_LONG]
    assert [each[0].reply_tokens for each in asks] == [64, 64, 64, 50, 1]
    assert all(len(visit.asks) == 1 for part in parts for visit in part.visits)
    assert all(visit.opens_s < visit.asks[0].at_s for part in parts for visit in part.visits)
    assert asks_of(timetable(replace(drill, reply_tokens=None))[0])[0].reply_tokens == 128


def test_sessions_that_exhaust_memory_come_to_fill_the_window() -> None:
    drill = Drill(shape=Shape.KV, wire=Wire.CHAT, trainees=5, window_tokens=4096, turns=(5, 10))
    for part in timetable(drill):
        whole = sum((ask.message_tokens or 0) + (ask.reply_tokens or 0) for ask in asks_of(part))
        assert 0.85 * 4096 <= whole <= 4096


def test_messages_to_sessions_stay_as_short_as_these_take_them() -> None:
    parts = timetable(Drill(shape=Shape.KV, trainees=1, turns=(2, 2), window_tokens=8192))
    assert {ask.message_tokens for ask in asks_of(parts[0])} == {512}


def test_long_output_asks_for_as_much_as_may_be() -> None:
    assert asks_of(timetable(Drill(shape=Shape.LONG_OUTPUT, reply_tokens=700))[0])[0].reply_tokens == 700
    assert asks_of(timetable(Drill(shape=Shape.LONG_OUTPUT))[0])[0].reply_tokens == 1024


def test_a_trace_waits_for_nobody() -> None:
    drill = Drill(shape=Shape.TRACE, wire=Wire.CHAT, trace="azure")
    (first, second) = timetable(drill, [Arrival(0.0, 10, 5), Arrival(1.0, 10, 5)])
    assert (first.waits, second.waits, second.last_s) == (False, False, 1.0)


def test_a_drill_that_makes_no_sense_has_no_timetable() -> None:
    with pytest.raises(ValueError, match="trainees: at least 1; think_s: at least 0"):
        timetable(Drill(trainees=0, think_s=-1))


def test_of_nobody_nothing_is_planned() -> None:
    assert last_planned_s(()) == 0
