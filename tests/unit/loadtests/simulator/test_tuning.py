"""What the flags of one replica say instead of its profile."""

import pytest

from loadtests.simulator.profile_files import UnusableProfile, load
from loadtests.simulator.tuning import Tuning, tuned

PROFILE = load("cpu-smollm2")


def test_without_flags_a_profile_stays_as_it_is() -> None:
    assert tuned(PROFILE, Tuning()) == PROFILE


def test_flags_win() -> None:
    flags = Tuning(
        max_model_len=1_024,
        max_num_seqs=4,
        max_num_batched_tokens=512,
        max_num_queued_reqs=0,
        block_size=64,
        blocks=40,
        load_s=0,
    )
    found = tuned(PROFILE, flags)
    limits = found.limits
    assert (limits.window_tokens, limits.max_sequences, limits.max_batched_tokens) == (1_024, 4, 512)
    assert (limits.max_queued_requests, limits.block_tokens, found.blocks, found.start_up.load_s) == (0, 64, 40, 0)


def test_flags_that_no_engine_can_run_with_are_refused() -> None:
    with pytest.raises(UnusableProfile, match="less than one window"):
        tuned(PROFILE, Tuning(blocks=10))
