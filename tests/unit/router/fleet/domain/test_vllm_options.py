import yaml
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.vllm_flags import FlagValue
from router.fleet.domain.vllm_options import (
    DraftModel,
    Ngram,
    SchedulingPolicy,
    VllmOptions,
    flags_of,
    options_of,
    yaml_lines,
)

COUNTS = st.none() | st.integers(0, 100_000)
SWITCHES = st.none() | st.booleans()
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20)
SPECULATIONS = (
    st.none() | st.builds(Ngram, st.integers(1, 9)) | st.builds(DraftModel, model=TEXTS, tokens=st.integers(1, 9))
)
OTHERS = st.dictionaries(
    st.sampled_from(["tensor-parallel-size", "reasoning-parser", "compilation-config", "seed"]),
    TEXTS | st.integers() | st.booleans() | st.dictionaries(TEXTS, TEXTS | st.integers(), max_size=3),
)
OPTIONS = st.builds(
    VllmOptions,
    max_model_len=st.none() | st.integers(-1, 100_000),
    max_num_seqs=COUNTS,
    max_num_batched_tokens=COUNTS,
    max_num_queued_reqs=COUNTS,
    max_num_queued_tokens=COUNTS,
    kv_cache_dtype=st.none() | TEXTS,
    enable_prefix_caching=SWITCHES,
    enable_chunked_prefill=SWITCHES,
    enable_prompt_tokens_details=SWITCHES,
    scheduling_policy=st.none() | st.sampled_from(SchedulingPolicy),
    shutdown_timeout=COUNTS,
    dtype=st.none() | TEXTS,
    block_size=COUNTS,
    gpu_memory_utilization=st.none() | st.floats(0, 1),
    enforce_eager=SWITCHES,
    quantization=st.none() | TEXTS,
    speculation=SPECULATIONS,
    others=OTHERS,
)


@given(OPTIONS)
def test_options_come_back_from_their_flags(options: VllmOptions) -> None:
    assert options_of(flags_of(options)) == options


@given(OPTIONS)
def test_flags_come_back_from_their_yaml(options: VllmOptions) -> None:
    flags = flags_of(options)
    told = yaml.safe_load(yaml_lines(flags))
    share = flags.pop("gpu-memory-utilization", None)
    # YAML takes a number without a point for a text, as 1e-05 is; so does vLLM, which makes a number of it.
    assert share is None or float(told.pop("gpu-memory-utilization")) == share
    assert told == flags


def test_a_profile_has_one_flag_a_line() -> None:
    flags = flags_of(VllmOptions(max_model_len=4096, others={"compilation-config": {"mode": 3}, "x": "a" * 200}))
    assert yaml_lines(flags).splitlines() == [
        "max-model-len: 4096",
        "compilation-config:",
        "  mode: 3",
        f"x: {'a' * 200}",
    ]


def test_what_is_left_to_the_engine_is_not_written() -> None:
    assert flags_of(VllmOptions()) == {}
    assert options_of({"quantization": None}) == VllmOptions(others={"quantization": None})


def test_half_of_a_speculation_and_other_kinds_are_kept_as_they_are() -> None:
    halves: list[dict[str, FlagValue]] = [
        {"spec-method": "ngram"},
        {"spec-tokens": 4},
        {"spec-method": "eagle3", "spec-model": "m", "spec-tokens": 4},
        {"spec-method": "draft_model", "spec-tokens": 4},
        {"spec-method": "ngram", "spec-model": "m", "spec-tokens": 4},
    ]
    for flags in halves:
        assert options_of(flags) == VllmOptions(others=flags)
        assert flags_of(options_of(flags)) == flags
