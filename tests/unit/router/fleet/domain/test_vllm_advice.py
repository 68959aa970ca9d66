import json
from importlib.resources import files

import pytest

from router.fleet.domain.vllm_advice import Surroundings, check
from router.fleet.domain.vllm_flags import FlagValue, Weight, engine_facts

FACTS = engine_facts(json.loads((files("gateway.cli") / "engine_flags" / "vllm-0.32.json").read_text()))
GOOD: dict[str, FlagValue] = {
    "max-model-len": 4096,
    "max-num-seqs": 64,
    "max-num-batched-tokens": 2048,
    "max-num-queued-reqs": 128,
    "enable-prefix-caching": True,
    "enable-prompt-tokens-details": True,
    "scheduling-policy": "priority",
    "shutdown-timeout": 60,
    "gpu-memory-utilization": 0.92,
}
STRICT = Surroundings(grace_s=75.0, window_tokens=4096, sends_priorities=True)


def without(*names: str) -> dict[str, FlagValue]:
    return {name: value for name, value in GOOD.items() if name not in names}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"enable-chunked-prefill": True},
        {"enable-chunked-prefill": False, "max-num-batched-tokens": 4096},
        {"spec-method": "ngram", "spec-tokens": 4},
        {"spec-method": "draft_model", "spec-model": "/models/draft", "spec-tokens": 3},
        {"speculative-config": {"method": "ngram", "num_speculative_tokens": 4}},
        {"spec-method": "ngram", "speculative-config": {"num-speculative-tokens": 4}},
        {"max-model-len": "4096"},
    ],
)
def test_good_options_are_left_alone(more: dict[str, FlagValue]) -> None:
    assert check(GOOD | more, FACTS, STRICT).findings == ()


@pytest.mark.parametrize(
    ("flags", "flag", "what"),
    [
        (GOOD | {"gpu-memory-utilization": 1.2}, "gpu-memory-utilization", "is 1.2"),
        (GOOD | {"gpu-memory-utilization": 0}, "gpu-memory-utilization", "is 0"),
        (GOOD | {"max-num-queued-reqs": -1}, "max-num-queued-reqs", "is -1"),
        (GOOD | {"max-model-len": 0}, "max-model-len", "is 0"),
        (GOOD | {"max-model-len": 2048}, "max-model-len", "while the gateway counts with 4096"),
        (GOOD | {"enable-chunked-prefill": False}, "max-num-batched-tokens", "chunked prefill is off"),
        (GOOD | {"max-num-seqs": 4096}, "max-num-batched-tokens", "less than the 4096 of max-num-seqs"),
        (GOOD | {"shutdown-timeout": 75}, "shutdown-timeout", "is killed after 75 s"),
        (GOOD | {"spec-method": "ngram"}, "spec-method", "without spec-tokens"),
        (GOOD | {"spec-method": "draft_model", "spec-tokens": 3}, "spec-method", "without spec-model"),
        (GOOD | {"spec-tokens": 3}, "spec-tokens", "without a method"),
        (
            GOOD | {"spec-tokens": 3, "speculative-config": {"method": "ngram", "num-speculative-tokens": 4}},
            "spec-tokens",
            "stands in speculative-config too",
        ),
        (GOOD | {"quantization": "fp9"}, "quantization", "does not offer"),
        (GOOD | {"kv-cache-dtype": "int8"}, "kv-cache-dtype", "does not offer"),
    ],
)
def test_what_cannot_work_is_an_error(flags: dict[str, FlagValue], flag: str, what: str) -> None:
    checked = check(flags, FACTS, STRICT)
    (finding,) = checked.findings
    assert (finding.weight, finding.flag) == (Weight.ERROR, flag)
    assert what in finding.what
    assert finding.advice
    assert checked.errors == 1


@pytest.mark.parametrize(
    ("flags", "flag"),
    [
        (without("max-model-len"), "max-model-len"),
        (GOOD | {"max-model-len": "auto"}, "max-model-len"),
        (GOOD | {"enable-prefix-caching": False}, "enable-prefix-caching"),
        (without("enable-prompt-tokens-details"), "enable-prompt-tokens-details"),
        (without("scheduling-policy"), "scheduling-policy"),
        (without("max-num-queued-reqs"), "max-num-queued-reqs"),
        (without("shutdown-timeout"), "shutdown-timeout"),
        (GOOD | {"shutdown-timeout": 0}, "shutdown-timeout"),
        (GOOD | {"trust-remote-code": True}, "trust-remote-code"),
        (GOOD | {"enable-sleep-mode": True}, "enable-sleep-mode"),
        (GOOD | {"hf-token": "s3cret"}, "hf-token"),
    ],
)
def test_what_works_worse_is_a_warning(flags: dict[str, FlagValue], flag: str) -> None:
    checked = check(flags, FACTS, STRICT)
    (finding,) = checked.findings
    assert (finding.weight, finding.flag, checked.errors) == (Weight.WARNING, flag, 0)
    assert "s3cret" not in finding.what + finding.advice


@pytest.mark.parametrize(
    "flags",
    [
        without("scheduling-policy"),
        without("max-num-queued-reqs") | {"max-num-queued-tokens": 100_000},
        without("max-num-batched-tokens"),
        without("max-num-seqs"),
        GOOD | {"max-model-len": 2048},
    ],
)
def test_what_the_surroundings_do_not_say_is_not_held_against_it(flags: dict[str, FlagValue]) -> None:
    assert check(flags, FACTS, Surroundings()).findings == ()


def test_what_is_written_wrongly_is_told_once() -> None:
    flags = without("shutdown-timeout") | {"scheduling-policy": "lifo", "shutdown_timeout": "long"}
    checked = check(flags, FACTS, STRICT)
    assert {finding.flag for finding in checked.findings} == {"scheduling-policy", "shutdown_timeout"}
    assert checked.errors == len(checked.findings) == 2
