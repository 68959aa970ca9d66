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


def test_a_step_of_one_kind_costs_what_that_kind_costs() -> None:
    chunk = Chunk(10, 32, opens=True)
    assert step_ms(PREFILL, DECODE, [chunk], decoding=0) == pytest.approx(chunk_ms(PREFILL, chunk))
    assert step_ms(PREFILL, DECODE, [], decoding=4) == decode_ms(DECODE, 4)


def test_a_reply_beside_a_prompt_costs_only_its_own_part() -> None:
    chunk = Chunk(10, 0, opens=True)
    assert step_ms(PREFILL, DECODE, [chunk], decoding=2) == pytest.approx(chunk_ms(PREFILL, chunk) + 1)


def test_a_prompt_that_goes_on_beside_replies_leaves_them_the_weights() -> None:
    chunk = Chunk(10, 32, opens=False)
    assert step_ms(PREFILL, DECODE, [chunk], decoding=2) == pytest.approx(chunk_ms(PREFILL, chunk) + 31)


def test_each_prompt_pays_its_base() -> None:
    chunks = [Chunk(10, 0, opens=True), Chunk(20, 0, opens=True)]
    apart = sum(chunk_ms(PREFILL, chunk) for chunk in chunks)
    assert step_ms(PREFILL, DECODE, chunks, decoding=0) == pytest.approx(apart)
