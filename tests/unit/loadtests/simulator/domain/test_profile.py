"""How fast and how large a simulated replica is."""

from dataclasses import replace

import pytest

from loadtests.simulator.domain.profile import Profile, flaws
from tests.support.simulated import LIMITS, MEMORY, SMALL, with_blocks, with_limits


def test_the_pool_is_what_weights_and_reserve_leave() -> None:
    assert SMALL.blocks == (9_000 - 4_000 - 1_000) // 40


def test_weights_that_do_not_fit_leave_no_pool() -> None:
    assert replace(SMALL, memory=replace(MEMORY, weights_bytes=20_000)).blocks == 0


def test_a_given_pool_is_taken_as_it_is() -> None:
    assert with_blocks(7).blocks == 7


def test_a_sound_profile_has_no_flaws() -> None:
    assert list(flaws(SMALL)) == []


@pytest.mark.parametrize(
    ("profile", "flaw"),
    [
        (replace(SMALL, prefill=replace(SMALL.prefill, base_ms=-1)), "prefill.base_ms must be a number"),
        (replace(SMALL, decode=replace(SMALL.decode, weights_ms=float("nan"))), "decode.weights_ms must be a number"),
        (with_limits(replace(LIMITS, block_tokens=0)), "limits.block_tokens must be at least 1"),
        (with_limits(replace(LIMITS, max_sequences=0)), "limits.max_sequences must be at least 1"),
        (replace(SMALL, memory=replace(MEMORY, utilisation=1.5)), "memory.utilisation must be above 0"),
        (with_blocks(16), "the pool holds 60 tokens, less than one window of 64"),
    ],
)
def test_a_flaw_is_named(profile: Profile, flaw: str) -> None:
    assert any(flaw in found for found in flaws(profile))
