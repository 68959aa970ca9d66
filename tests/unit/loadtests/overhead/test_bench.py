"""What is run, and where."""

import os

import pytest

from loadtests.overhead.bench import Plan, courses, measure
from loadtests.overhead.pinned import TargetFailed
from loadtests.overhead.verdict import CHUNKS, MANY, ONE, STREAMS_200, STREAMS_500


def test_every_course_that_is_judged_is_run() -> None:
    assert [each.name for each in courses(1)] == [ONE, MANY, CHUNKS, STREAMS_200, STREAMS_500]
    assert [each.is_timed for each in courses(1)] == [False, False, False, True, True]


def test_one_core_is_not_enough() -> None:
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(mine)})
    try:
        with pytest.raises(TargetFailed, match="two cores"):
            measure(Plan([], [], 1, 100, None), progress=print)
    finally:
        os.sched_setaffinity(0, mine)
