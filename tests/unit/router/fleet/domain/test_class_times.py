from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.class_times import ClassTimes, Turns, class_times
from router.fleet.domain.service_curve import REQUEST_OVERHEAD_S, ServiceCurve, service_curve
from tests.unit.router.fleet.domain.test_memory_budget import setup

TURNS = Turns(
    think_s=20.0, new_tokens=150, reply_tokens=100, context_tokens=3000, first_tokens=1500, shared_tokens=1000
)


def curve(*, max_num_seqs: int = 128) -> ServiceCurve:
    return service_curve(replace(setup("Qwen2.5-7B"), max_num_seqs=max_num_seqs), context_tokens=3000)


def times(trainees: int, *, turns: Turns = TURNS, max_num_seqs: int = 128) -> ClassTimes:
    return class_times(curve(max_num_seqs=max_num_seqs), turns, trainees=trainees)


def test_a_trainee_alone_by_hand() -> None:
    prefill, step = curve().prefill_s(150, cached_tokens=2850), curve().step_s(1)
    found = times(1)
    assert found.ttft_s == found.ttft_p95_s == pytest.approx(REQUEST_OVERHEAD_S + prefill + step)
    assert found.token_s == pytest.approx(step)
    turn = 100 * step + prefill
    assert found.turns_per_s == pytest.approx(1 / (20.0 + turn))
    assert (found.busy_share, found.in_flight) == pytest.approx((turn / (20.0 + turn),) * 2)


def test_the_bell_prefills_one_after_the_other() -> None:
    own = curve().prefill_s(500, cached_tokens=1000)
    assert times(40).bell_last_s == pytest.approx(REQUEST_OVERHEAD_S + 40 * own + curve().step_s(40))


def test_at_the_bell_those_beyond_the_sequences_wait_for_whole_replies() -> None:
    own = curve().prefill_s(500, cached_tokens=1000)
    waves = 100 * curve().step_s(16)
    by_hand = REQUEST_OVERHEAD_S + 40 * own + 2 * waves + curve().step_s(16)
    assert times(40, max_num_seqs=16).bell_last_s == pytest.approx(by_hand)


def test_a_first_message_that_is_shared_whole_is_still_a_token() -> None:
    alike = replace(TURNS, first_tokens=1000)
    assert times(1, turns=alike).bell_last_s > 0


def test_a_class_beyond_what_runs_at_once_waits() -> None:
    crowd = replace(TURNS, think_s=0.5)
    free, bound = times(100, turns=crowd), times(100, turns=crowd, max_num_seqs=4)
    assert bound.ttft_s > 10 * free.ttft_s
    assert bound.token_s < free.token_s


@given(st.integers(1, 80), st.integers(1, 80), st.floats(0.5, 60))
def test_a_larger_class_never_has_shorter_times(trainees: int, more: int, think_s: float) -> None:
    turns = replace(TURNS, think_s=think_s)
    small, large = times(trainees, turns=turns), times(trainees + more, turns=turns)
    assert small.ttft_s <= large.ttft_s * (1 + 1e-9)
    assert small.ttft_p95_s <= large.ttft_p95_s
    assert small.token_s <= large.token_s * (1 + 1e-9)
    assert small.in_flight <= large.in_flight * (1 + 1e-9)
    assert small.bell_last_s <= large.bell_last_s


@given(st.integers(1, 80), st.floats(0.5, 60))
def test_turns_in_flight_and_thinking_trainees_are_the_class(trainees: int, think_s: float) -> None:
    found = times(trainees, turns=replace(TURNS, think_s=think_s))
    assert found.in_flight + found.turns_per_s * think_s == pytest.approx(trainees)
    assert 0 < found.busy_share < 1 + 1e-9
