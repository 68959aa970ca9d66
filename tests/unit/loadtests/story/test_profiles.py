"""Each step of the story changes what it names and nothing else, and the last one is the shipped profile."""

from dataclasses import asdict, replace
from itertools import pairwise

from loadtests.simulator.domain.profile import Profile
from loadtests.simulator.profile_files import load, parse, text_of
from loadtests.story.profiles import AFTER, BEFORE, bounded, figure_of, int8

before, after = load(BEFORE), load(AFTER)
BOUNDED, INT8 = bounded(before, after), int8(before, after)


def changed(one: Profile, other: Profile) -> set[str]:
    sections = ("prefill", "decode", "memory", "limits", "start_up")
    return {
        f"{section}.{name}"
        for section in sections
        for name, value in asdict(getattr(one, section)).items()
        if value != asdict(getattr(other, section))[name]
    }


def test_a_bounded_step_changes_limits_and_the_reserve_alone() -> None:
    assert changed(before, BOUNDED) == {
        "limits.window_tokens",
        "limits.max_sequences",
        "limits.max_batched_tokens",
        "memory.activation_reserve_bytes",
    }
    assert BOUNDED.blocks > before.blocks


def test_eight_bits_change_weights_cache_and_compute() -> None:
    assert changed(BOUNDED, INT8) == {
        "prefill.per_token_ms",
        "memory.weights_bytes",
        "memory.kv_bytes_per_token",
        "decode.weights_ms",
        "decode.per_sequence_ms",
        "start_up.load_s",
    }
    assert INT8.blocks > 2 * BOUNDED.blocks


def test_speculation_changes_what_a_step_takes_and_ends_at_the_shipped_profile() -> None:
    assert changed(INT8, after) == {"decode.weights_ms", "decode.per_sequence_ms"}


def test_every_step_is_at_least_as_quick_as_the_one_before() -> None:
    for slower, quicker in pairwise((before, BOUNDED, INT8, after)):
        for figure in ("prefill.per_token_ms", "decode.weights_ms", "decode.per_sequence_ms"):
            assert figure_of(quicker, figure) <= figure_of(slower, figure)


def test_each_can_be_written_down_and_read_again_with_a_reason_for_every_figure() -> None:
    for profile in (BOUNDED, INT8):
        read = parse(text_of(profile))
        assert replace(read, sources=()) == replace(profile, sources=())
        assert {source.figure for source in read.sources} == {source.figure for source in before.sources}
