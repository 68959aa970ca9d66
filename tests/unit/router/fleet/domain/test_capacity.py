from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router.fleet.domain.capacity import Asked, CapacityPlan, DoesNotFit, Limit, Targets, plan_capacity
from router.fleet.domain.devices import GIB
from router.fleet.domain.drill_cost import Tariff
from router.fleet.domain.kv_cache import sessions_in
from router.fleet.domain.speculation import Speculation
from tests.unit.router.fleet.domain.test_class_times import TURNS
from tests.unit.router.fleet.domain.test_memory_budget import BLOCK_BYTES, KV_BY_HAND, setup, with_memory

TARIFF = Tariff(price_per_hour=3.0, drill_s=3600, lead_s=1800, drain_s=600, measured_start_s=None, safety=2.0)
GENEROUS = Targets(ttft_p95_s=60.0, token_s=1.0)


def asked(name: str, *, trainees: int = 300, on: str = "l40s", targets: Targets = GENEROUS) -> Asked:
    turns = replace(TURNS, shared_tokens=0)
    return Asked(setup=setup(name, on=on), turns=turns, trainees=trainees, targets=targets, tariff=TARIFF)


def planned(one: Asked) -> CapacityPlan:
    plan = plan_capacity(one)
    assert isinstance(plan, CapacityPlan)
    return plan


# KV bytes // block bytes, less vLLM's own block, by the 4096 / 16 = 256 blocks of a window; 300 trainees by that.
BY_HAND = {
    "Qwen2.5-7B": (118, 3),  # 27,942,557,327 // 917,504 = 30,454; 30,453 / 256 = 118.96; 300 / 118 = 2.5
    "Qwen2.5-14B": (16, 19),  # 13,650,500,239 // 3,145,728 = 4,339; 4,338 / 256 = 16.9; 300 / 16 = 18.8
    "Qwen3-8B": (44, 7),  # 26,838,620,815 // 2,359,296 = 11,375; 11,374 / 256 = 44.4; 300 / 44 = 6.8
    "Llama-3.1-8B": (50, 6),  # 27,173,102,223 // 2,097,152 = 12,957; 12,956 / 256 = 50.6; 300 / 50 = 6
}


@pytest.mark.parametrize("name", BY_HAND)
def test_sessions_and_replicas_equal_the_sum_by_hand(name: str) -> None:
    sessions, replicas = BY_HAND[name]
    assert (KV_BY_HAND[name] // BLOCK_BYTES[name] - 1) // 256 == sessions
    plan = planned(asked(name))
    assert (plan.window_sessions, plan.replicas, plan.limit) == (sessions, replicas, Limit.MEMORY)
    assert plan.trainees_per_replica == -(-300 // replicas)
    assert plan.meets_targets


def test_sessions_at_the_average_are_told_and_not_counted_on() -> None:
    plan = planned(asked("Qwen3-8B"))
    # 3,000 tokens are 188 blocks.
    assert plan.average_sessions == (KV_BY_HAND["Qwen3-8B"] // BLOCK_BYTES["Qwen3-8B"] - 1) // 188
    assert plan.average_sessions > plan.window_sessions


def test_a_small_class_needs_one_replica_and_the_reserve() -> None:
    plan = planned(replace(asked("Qwen2.5-7B", trainees=20), reserve=1))
    assert (plan.replicas, plan.limit, plan.trainees_per_replica) == (2, Limit.CLASS, 20)


def test_a_time_limit_makes_classes_smaller() -> None:
    strict = planned(asked("Qwen2.5-7B", targets=Targets(ttft_p95_s=1.5, token_s=0.027)))
    assert strict.limit is Limit.TIME
    assert strict.meets_targets
    assert strict.replicas > 3
    one_more = replace(strict.asked, trainees=strict.trainees_per_replica * 2, targets=GENEROUS)
    assert planned(one_more).times.token_s > 0.027


def test_a_time_limit_that_nobody_can_keep_leaves_memory_to_count() -> None:
    plan = planned(asked("Qwen2.5-7B", targets=Targets(ttft_p95_s=1.5, token_s=0.001)))
    assert not plan.meets_targets
    assert (plan.replicas, plan.limit) == (3, Limit.MEMORY)


def test_a_model_that_does_not_fit_says_how_much_is_missing() -> None:
    found = plan_capacity(asked("Qwen2.5-32B"))
    assert isinstance(found, DoesNotFit)
    # 256 blocks of a window and vLLM's own, 4 MiB each, on top of what is short already.
    assert found.missing_bytes == 257 * 4 * 2**20 - KV_BY_HAND["Qwen2.5-32B"]
    enough = with_memory(found.asked.setup, found.asked.setup.device.memory_bytes + int(found.missing_bytes / 0.92) + 1)
    assert isinstance(plan_capacity(replace(found.asked, setup=enough)), CapacityPlan)


def test_costs_are_told_as_planned_and_as_measured() -> None:
    one = asked("Qwen2.5-7B")
    assert planned(one).measured_cost is None
    measured = planned(replace(one, tariff=replace(TARIFF, measured_start_s=150.0)))
    assert measured.cost.replica_hours == pytest.approx(3 * 100 / 60)
    assert measured.measured_cost is not None
    assert measured.measured_cost.replica_hours == pytest.approx(3 * 75 / 60)


@settings(max_examples=30)
@given(st.integers(1, 150), st.integers(0, 150))
def test_more_trainees_never_need_fewer_replicas(trainees: int, more: int) -> None:
    strict = Targets(ttft_p95_s=1.5, token_s=0.030)
    fewer = planned(asked("Qwen2.5-7B", trainees=trainees, targets=strict))
    assert fewer.replicas <= planned(asked("Qwen2.5-7B", trainees=trainees + more, targets=strict)).replicas


@settings(max_examples=20)
@given(st.integers(0, 60 * GIB), st.sampled_from(sorted(BY_HAND)))
def test_more_memory_never_needs_more_replicas(more: int, name: str) -> None:
    one = asked(name)
    larger = replace(one, setup=with_memory(one.setup, one.setup.device.memory_bytes + more))
    assert planned(larger).replicas <= planned(one).replicas


@settings(max_examples=20)
@given(st.integers(256, 8_000), st.integers(0, 8_000), st.sampled_from(sorted(BY_HAND)))
def test_a_longer_window_never_holds_more_sessions(window: int, more: int, name: str) -> None:
    one = asked(name)
    short, long = (
        planned(replace(one, setup=replace(one.setup, window_tokens=tokens))) for tokens in (window, window + more)
    )
    assert long.window_sessions <= short.window_sessions
    assert long.replicas >= short.replicas


@settings(max_examples=20)
@given(st.integers(1, 500), st.sampled_from(sorted(BY_HAND)))
def test_a_plan_holds_every_session_at_its_whole_window(trainees: int, name: str) -> None:
    plan = planned(asked(name, trainees=trainees))
    assert plan.replicas * plan.trainees_per_replica >= trainees
    assert plan.trainees_per_replica <= sessions_in(
        plan.budget.pool, context_tokens=4096, shared_tokens=0, ahead_tokens=0
    )


@settings(max_examples=60)
@given(st.integers(2 * GIB, 40 * GIB), st.integers(0, 8), st.integers(0, 4_096))
def test_whatever_fits_has_at_least_one_replica_for_each_session(memory: int, ahead: int, shared: int) -> None:
    one = asked("SmolLM2-135M", trainees=3)
    guess = Speculation(tokens=ahead, acceptance=0.5, draft=None) if ahead else None
    setup_ = replace(with_memory(one.setup, memory), speculation=guess)
    found = plan_capacity(replace(one, setup=setup_, turns=replace(one.turns, shared_tokens=shared)))
    if isinstance(found, DoesNotFit):
        assert found.missing_bytes > 0
    else:
        assert found.window_sessions >= 1
        assert 1 <= found.replicas <= 3


def test_a_window_that_fits_to_the_last_block_does_not_fit_with_guesses() -> None:
    one = asked("Qwen3-8B", trainees=1)
    bound = replace(one.setup, window_tokens=(KV_BY_HAND["Qwen3-8B"] // BLOCK_BYTES["Qwen3-8B"] - 1) * 16)
    assert planned(replace(one, setup=bound)).window_sessions == 1
    guessing = replace(bound, speculation=Speculation(tokens=1, acceptance=0.5, draft=None))
    found = plan_capacity(replace(one, setup=guessing))
    assert isinstance(found, DoesNotFit)
    assert 0 < found.missing_bytes <= BLOCK_BYTES["Qwen3-8B"]
