"""What replicas tell of their work, and waiting until they have none."""

import pytest

from loadtests.beside.engines import NotAtRest, Work, at_rest, model_of
from loadtests.target import Replica
from tests.support.telling_replica import metrics_page, telling_replica


def test_work_is_told_once_nothing_runs_any_more() -> None:
    with (
        telling_replica("a", [metrics_page(running=1, prompts=400), metrics_page()]) as one,
        telling_replica("b", [metrics_page(prompts=30, hits=0)]) as other,
    ):
        work = at_rest([one, other], within_s=10)
    assert (work.prompts, work.cached, work.computed) == ({"a": 500, "b": 30}, {"a": 320, "b": 0}, 210)


def test_who_does_not_come_to_rest_is_named() -> None:
    gone = Replica("gone", "http://127.0.0.1:9")
    with telling_replica("busy", [metrics_page(running=1)]) as busy, pytest.raises(NotAtRest, match="busy, gone"):
        at_rest([busy, gone], within_s=0)


def test_what_was_done_before_is_left_out() -> None:
    before, after = Work({"a": 100}, {"a": 60}), Work({"a": 150, "b": 10}, {"a": 90, "b": 0})
    assert after.since(before) == Work({"a": 50, "b": 10}, {"a": 30, "b": 0})


def test_the_first_model_is_taken() -> None:
    with telling_replica("a", [metrics_page()]) as one:
        assert model_of(one) == "smollm2"
    with pytest.raises(NotAtRest, match="names no model"):
        model_of(Replica("gone", "http://127.0.0.1:9"))
