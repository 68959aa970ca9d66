from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.service_curve import (
    BANDWIDTH_SHARE,
    COMPUTE_SHARE,
    DRAFT_OVERHEAD_S,
    STEP_OVERHEAD_S,
    ServiceCurve,
    service_curve,
)
from router.fleet.domain.speculation import Speculation
from router.fleet.domain.weights import Quantisation
from tests.unit.router.fleet.domain.five_models import model
from tests.unit.router.fleet.domain.test_memory_budget import setup


def curve(name: str = "Llama-3.1-8B", *, speculation: Speculation | None = None) -> ServiceCurve:
    return service_curve(replace(setup(name), speculation=speculation), context_tokens=4096)


# All weights but the embeddings, in two bytes, at 864 GB/s.
FLOORS_MS = {
    "Qwen2.5-7B": 2 * (7_615_616_512 - 152064 * 3584) / 864e6,
    "Qwen2.5-14B": 2 * (14_770_033_664 - 152064 * 5120) / 864e6,
    "Qwen2.5-32B": 2 * (32_763_876_352 - 152064 * 5120) / 864e6,
    "Qwen3-8B": 2 * (8_190_735_360 - 151936 * 4096) / 864e6,
    "Llama-3.1-8B": 2 * (8_030_261_248 - 128256 * 4096) / 864e6,
}


@pytest.mark.parametrize("name", FLOORS_MS)
def test_the_floor_is_weights_by_bandwidth(name: str) -> None:
    assert curve(name).floor_s * 1000 == pytest.approx(FLOORS_MS[name])


def test_a_step_reads_the_weights_once_and_the_kv_of_each_session() -> None:
    read = 2 * (8_030_261_248 - 128256 * 4096) + 10 * 4096 * 131_072
    assert curve().step_s(10) == pytest.approx(STEP_OVERHEAD_S + read / (864e9 * BANDWIDTH_SHARE))


def test_many_short_sessions_are_bound_by_compute() -> None:
    short = service_curve(setup("Llama-3.1-8B"), context_tokens=1)
    multiplied = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 128256 * 4096
    assert short.step_s(1000) == pytest.approx(STEP_OVERHEAD_S + 2 * multiplied * 1000 / (362e12 * COMPUTE_SHARE))


def test_a_prefill_by_hand() -> None:
    multiplied = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 128256 * 4096
    attention = 4 * 32 * 32 * 128 * 2000 * (1000 + 1000)
    by_hand = (2 * multiplied * 2000 + attention) / (362e12 * COMPUTE_SHARE)
    assert curve().prefill_s(2000, cached_tokens=1000) == pytest.approx(by_hand)


def test_a_single_token_still_reads_all_weights() -> None:
    assert curve().prefill_s(1, cached_tokens=0) == pytest.approx(curve().floor_s / BANDWIDTH_SHARE)


def test_guesses_from_the_prompt_give_more_tokens_a_step() -> None:
    guessing = curve(speculation=Speculation(tokens=3, acceptance=0.5, draft=None))
    assert guessing.step_s(1) == curve().step_s(1)
    assert guessing.token_s(1) == pytest.approx(curve().token_s(1) / 1.875)


def test_a_draft_model_takes_a_step_of_its_own_for_each_guess() -> None:
    guessing = curve(speculation=Speculation(tokens=3, acceptance=0.5, draft=model("SmolLM2-135M")))
    own = DRAFT_OVERHEAD_S + (2 * 134_515_008 + 4096 * 23_040) / (864e9 * BANDWIDTH_SHARE)
    assert guessing.step_s(1) - curve().step_s(1) == pytest.approx(3 * own)


@given(st.integers(1, 500), st.integers(1, 500), st.sampled_from(Quantisation))
def test_more_sessions_never_make_a_step_shorter_nor_the_replica_slower(
    running: int, more: int, kind: Quantisation
) -> None:
    one = service_curve(replace(setup("Qwen2.5-7B"), quantisation=kind), context_tokens=3000)
    assert one.step_s(running) <= one.step_s(running + more)
    assert running / one.step_s(running) <= (running + more) / one.step_s(running + more)


@given(st.integers(1, 30_000), st.integers(0, 30_000), st.integers(1, 1_000))
def test_longer_prompts_never_take_less(new: int, cached: int, more: int) -> None:
    took = curve().prefill_s(new, cached_tokens=cached)
    assert took <= curve().prefill_s(new + more, cached_tokens=cached)
    assert took <= curve().prefill_s(new, cached_tokens=cached + more)


@given(st.integers(1, 200))
def test_nothing_without_speculation_is_below_the_floor(running: int) -> None:
    assert curve().token_s(running) > curve().floor_s
