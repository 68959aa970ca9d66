"""How long one engine step takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.simulator.domain.profile import DecodeCost, PrefillCost
from loadtests.simulator.domain.timing import Chunk, chunk_ms, decode_ms, step_ms

PREFILL = PrefillCost(base_ms=38, per_token_ms=1.19, per_pair_ms=0.00095)
DECODE = DecodeCost(weights_ms=30, per_sequence_ms=0.5)


def test_a_prompt_costs_by_its_uncached_tokens_and_what_stands_before_them() -> None:
    assert chunk_ms(PREFILL, Chunk(tokens=100, before=400, opens=True)) == pytest.approx(38 + 119 + 0.095 * 450)


@given(st.lists(st.integers(1, 500), min_size=1, max_size=8), st.integers(0, 4000))
def test_chunks_add_up_to_the_whole(sizes: list[int], cached: int) -> None:
    whole = chunk_ms(PREFILL, Chunk(sum(sizes), cached, opens=True))
    pieces, before = 0.0, cached
    for place, size in enumerate(sizes):
        pieces += chunk_ms(PREFILL, Chunk(size, before, opens=place == 0))
        before += size
    assert pieces == pytest.approx(whole)


def test_a_token_costs_the_weights_once_and_each_sequence_a_little() -> None:
    assert decode_ms(DECODE, 8) == 34
    assert decode_ms(DECODE, 0) == 0


def test_prompts_and_replies_add_up_in_a_step() -> None:
    chunks = [Chunk(10, 0, opens=True), Chunk(20, 32, opens=False)]
    apart = sum(chunk_ms(PREFILL, chunk) for chunk in chunks)
    assert step_ms(PREFILL, DECODE, chunks, decoding=2) == pytest.approx(apart + 31)
