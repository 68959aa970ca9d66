from datetime import date

import pytest

from router.fleet.domain.vllm_flags import (
    EngineFacts,
    FlagValue,
    Kind,
    UnusableFacts,
    Weight,
    as_number,
    as_size,
    engine_facts,
    read_flags,
    words,
)

TOLD = {
    "engine": "vllm",
    "version": "0.32.0+cpu",
    "flags": {
        "max-model-len": {"kind": "size or auto"},
        "max-num-batched-tokens": {"kind": "size"},
        "max-num-seqs": {"kind": "integer", "default": "128"},
        "gpu-memory-utilization": {"kind": "number", "default": "0.92", "aliases": ["device-memory-utilization"]},
        "enable-prefix-caching": {"kind": "switch", "off": True},
        "headless": {"kind": "switch"},
        "dtype": {"kind": "text", "choices": ["auto", "bfloat16", "half"], "default": "auto"},
        "quantization": {"kind": "text", "choices": ["fp8", "awq"], "none": True},
        "api-key": {"kind": "text", "list": True},
        "cudagraph-capture-sizes": {"kind": "integer", "list": True},
        "compilation-config": {"kind": "json"},
        "hf-overrides": {"kind": "text or json"},
    },
}
FACTS = engine_facts(TOLD)


def test_a_record_is_read_by_names_and_other_names() -> None:
    assert FACTS.version == "0.32.0"
    share = FACTS.flags["device-memory-utilization"]
    assert share is FACTS.flags["gpu-memory-utilization"]
    assert (share.kind, share.default, share.has_off) == (Kind.NUMBER, "0.92", False)
    assert FACTS.flags["dtype"].choices == ("auto", "bfloat16", "half")


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {},
        {"version": 1, "flags": {}},
        {"version": "1", "flags": []},
        {"version": "1", "flags": {"a": {"kind": "colour"}}},
        {"version": "1", "flags": {"a": {}}},
        {"version": "1", "flags": {"a": 3}},
    ],
)
def test_what_is_no_record_is_refused(told: object) -> None:
    with pytest.raises(UnusableFacts):
        engine_facts(told)


@pytest.mark.parametrize(
    ("key", "value", "name", "read"),
    [
        ("max-model-len", 4096, "max-model-len", 4096),
        ("max_model_len", "8k", "max-model-len", 8000),
        ("max-model-len", "8K", "max-model-len", 8192),
        ("max-model-len", "Auto", "max-model-len", -1),
        ("max-num-batched-tokens", "1.5k", "max-num-batched-tokens", 1500),
        ("max-num-seqs", "64", "max-num-seqs", 64),
        ("device-memory-utilization", "0.9", "gpu-memory-utilization", 0.9),
        ("gpu-memory-utilization", 1, "gpu-memory-utilization", 1.0),
        ("enable-prefix-caching", False, "enable-prefix-caching", False),
        ("no-enable-prefix-caching", True, "enable-prefix-caching", False),
        ("headless", True, "headless", True),
        ("dtype", "half", "dtype", "half"),
        ("quantization", None, "quantization", None),
        ("quantization", "None", "quantization", None),
        ("api-key", ["a", "b"], "api-key", ["a", "b"]),
        ("cudagraph-capture-sizes", 4, "cudagraph-capture-sizes", 4),
        ("cudagraph-capture-sizes", [1, 2], "cudagraph-capture-sizes", [1, 2]),
        ("compilation-config", {"mode": 3}, "compilation-config", {"mode": 3}),
        ("compilation-config", '{"mode": 3}', "compilation-config", '{"mode": 3}'),
        ("compilation-config", [1], "compilation-config", [1]),
        ("compilation-config.mode", 3, "compilation-config.mode", 3),
        ("hf-overrides", {"a": 1}, "hf-overrides", {"a": 1}),
        ("hf-overrides", "a.b", "hf-overrides", "a.b"),
    ],
)
def test_what_is_right_is_read_by_its_proper_name(key: str, value: FlagValue, name: str, read: FlagValue) -> None:
    found = read_flags({key: value}, FACTS)
    assert found.findings == ()
    assert found.values == {name: read}


@pytest.mark.parametrize(
    ("key", "value", "what", "advice"),
    [
        ("enable-prefix-cachng", False, "is no flag of vLLM 0.32.0", "did you mean enable-prefix-caching?"),
        ("no-headless", True, "is no flag", "did you mean headless?"),
        ("num-scheduler-steps", 8, "is no flag", "leave it out"),
        ("dtype.x", 1, "is no flag", "did you mean dtype?"),
        ("no-compilation-config.mode", 1, "is no flag", "did you mean compilation-config?"),
        ("enable-prefix-caching", "true", "is on or off and takes no value", "true or false"),
        ("no-enable-prefix-caching", False, "is on or off", "true or false"),
        ("max-num-seqs", True, "takes a value, a whole number", "in quotes"),
        ("dtype", False, "takes a value, a text", "in quotes"),
        ("max-num-seqs", None, "has no value", "leave it out"),
        ("dtype", "None", "has no value", "leave it out"),
        ("max-num-seqs", 2.5, "is '2.5', which is not a whole number", "one such as 128"),
        ("max-num-seqs", "8k", "is '8k', which is not a whole number", "one such as 128"),
        ("max-num-batched-tokens", "1.5K", "which is not a whole number", "write a whole number"),
        ("max-model-len", "long", "which is not a whole number or auto", "write a whole number or auto"),
        ("gpu-memory-utilization", "high", "which is not a number", "one such as 0.92"),
        ("max-num-seqs", [1], "takes one value, not a list", "one value"),
        ("dtype", {"a": 1}, "which is not a text", "one such as auto"),
        ("dtype", "bf16", "is 'bf16', which vLLM does not offer", "did you mean bfloat16?"),
        ("dtype", "zzz", "which vLLM does not offer", "choose one of auto, bfloat16, half"),
        ("cudagraph-capture-sizes", [1, "x"], "is 'x', which is not a whole number", "a whole number"),
        ("compilation-config", "{mode: 3}", "which is not a table or JSON", "a table or JSON"),
        ("compilation-config", {"from": date(2026, 12, 1)}, "which is not a table or JSON", "a table or JSON"),
        ("hf-overrides", {date(2026, 12, 1): 1}, "which is not a table or JSON", "a table or JSON"),
        ("compilation-config", 3, "which is not a table or JSON", "a table or JSON"),
    ],
)
def test_what_is_wrong_is_told_with_what_to_do(key: str, value: FlagValue, what: str, advice: str) -> None:
    found = read_flags({key: value}, FACTS)
    (finding,) = found.findings
    assert finding.weight is Weight.ERROR
    assert finding.flag == key
    assert what in finding.what
    assert advice in finding.advice
    assert found.values == {}


def test_a_flag_that_is_written_twice_is_told() -> None:
    found = read_flags({"max-num-seqs": 1, "max_num_seqs": 2}, FACTS)
    (finding,) = found.findings
    assert (finding.flag, "twice" in finding.what) == ("max_num_seqs", True)


def test_a_secret_and_a_long_value_are_not_shown_whole() -> None:
    secret, long = read_flags({"api-key": {"s3cret": 1}, "max-num-seqs": "x" * 99}, FACTS).findings
    assert "s3cret" not in secret.what
    assert f"'{'x' * 39}…'" in long.what


@pytest.mark.parametrize(
    ("value", "size"),
    [(8192, 8192), ("8192", 8192), ("2M", 2 * 1024**2), ("1.5g", 1_500_000_000), (" 7 ", 7), ("1T", 1024**4)]
    + [(value, None) for value in ("", "k", "1.5K", "1kk", True, None, 2.0, "9" * 400 + "k", "9" * 5000)],
)
def test_sizes_are_read_as_vllm_reads_them(value: object, size: int | None) -> None:
    assert as_size(value) == size


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *((1, 1.0), ("0.5", 0.5), (0.5, 0.5), ("x", None), (None, None)),
        *((10**400, None), ("nan", None), (float("inf"), None), ("1e999", None)),
    ],
)
def test_numbers_are_read_as_python_reads_them(value: object, number: float | None) -> None:
    assert as_number(value) == number


def test_words_of_a_command_line() -> None:
    flags: dict[str, FlagValue] = {
        "max-num-seqs": 4,
        "enable-prefix-caching": True,
        "async-scheduling": False,
        "api-key": ["a", "b"],
        "compilation-config": {"mode": 3},
        "spec-model": "/a b",
    }
    assert list(words(flags)) == [
        "--max-num-seqs=4",
        "--enable-prefix-caching",
        "--no-async-scheduling",
        "--api-key",
        "a",
        "b",
        '--compilation-config={"mode": 3}',
        "--spec-model=/a b",
    ]


def test_nothing_is_known_of_an_engine_without_flags() -> None:
    assert len(read_flags({"a": 1, "b": 2}, EngineFacts("1", {})).findings) == 2
