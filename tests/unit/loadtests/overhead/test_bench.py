"""What is run, and where."""

import os

import pytest

from loadtests.overhead.bench import Plan, courses, measure, turn_courses
from loadtests.overhead.peers import Peer
from loadtests.overhead.pinned import TargetFailed
from loadtests.overhead.verdict import (
    CHUNKS,
    MANY,
    ONE,
    STREAMS_200,
    STREAMS_500,
    TURN_ONE,
    TURN_STREAMS_200,
    TURN_STREAMS_500,
    TURNS,
)


def test_every_course_that_is_judged_is_run() -> None:
    assert [each.name for each in courses(1)] == [ONE, MANY, CHUNKS, STREAMS_200, STREAMS_500]
    assert [each.is_timed for each in courses(1)] == [False, False, False, True, True]
    assert [each.name for each in turn_courses(1)] == [TURN_ONE, TURNS, TURN_STREAMS_200, TURN_STREAMS_500]
    assert all(each.is_streamed for each in turn_courses(1))


def test_whole_turns_are_taken_where_turns_are_known() -> None:
    plan = Plan([], courses(1)[:1], 1, 100, None, turn_courses(1)[:1])
    names = {peer: [each.name for each in plan.courses_of(peer)] for peer in Peer}
    assert names[Peer.GATEWAY] == [TURN_ONE]
    assert names[Peer.DIRECT] == names[Peer.LITELLM] == [ONE, TURN_ONE]
    assert names[Peer.MEMORY] == names[Peer.VLLM] == [ONE]


def test_one_core_is_not_enough() -> None:
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(mine)})
    try:
        with pytest.raises(TargetFailed, match="two cores"):
            measure(Plan([], [], 1, 100, None), progress=print)
    finally:
        os.sched_setaffinity(0, mine)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="it needs two cores")
def test_the_whole_gateway_is_not_measured_without_a_tokenizer() -> None:
    with pytest.raises(TargetFailed, match="a model's folder"):
        measure(Plan([Peer.GATEWAY], [], 1, 100, None), progress=print)
