import shlex
from dataclasses import replace

import pytest
import yaml

from router.fleet.domain.capacity import Asked
from router.fleet.domain.devices import CPU
from router.fleet.domain.memory_budget import ReplicaSetup
from router.fleet.domain.speculation import Speculation
from router.fleet.domain.vllm_profile import MARK, command_line, environment, profile_text, vllm_flags
from router.fleet.domain.weights import Quantisation
from tests.unit.router.fleet.domain.five_models import model
from tests.unit.router.fleet.domain.test_capacity import asked, planned


def changed(one: Asked, setup: ReplicaSetup) -> Asked:
    return replace(one, setup=setup)


def test_a_gpu_replica_is_told_its_window_its_sequences_and_its_share() -> None:
    flags = vllm_flags(planned(asked("Qwen2.5-7B")))
    assert flags == {
        "max-model-len": 4096,
        "max-num-seqs": 118,  # asked were 128, which KV does not hold
        "max-num-batched-tokens": 2048,
        "max-num-queued-reqs": 236,
        "kv-cache-dtype": "auto",
        "enable-prefix-caching": True,
        "enable-prompt-tokens-details": True,
        "scheduling-policy": "priority",
        "shutdown-timeout": 60,
        "gpu-memory-utilization": 0.92,
    }


def test_a_cpu_replica_is_told_its_blocks_and_by_a_variable_its_cache() -> None:
    plan = planned(changed(asked("SmolLM2-135M"), replace(asked("SmolLM2-135M", on=CPU).setup, eager=True)))
    assert {"block-size": 32, "dtype": "bfloat16", "enforce-eager": True}.items() <= vllm_flags(plan).items()
    assert "gpu-memory-utilization" not in vllm_flags(plan)
    assert environment(plan) == {"VLLM_CPU_KVCACHE_SPACE": "5"}
    assert command_line(plan).startswith("VLLM_CPU_KVCACHE_SPACE=5 vllm serve MODEL --max-model-len=4096 ")
    assert command_line(plan).endswith(" --block-size=32 --enforce-eager")


@pytest.mark.parametrize(
    ("kind", "told"), [(Quantisation.FP8, "fp8"), (Quantisation.INT8, None), (Quantisation.INT4, None)]
)
def test_only_fp8_is_made_at_the_start(kind: Quantisation, told: str | None) -> None:
    one = asked("Qwen2.5-7B")
    assert vllm_flags(planned(changed(one, replace(one.setup, quantisation=kind)))).get("quantization") == told


@pytest.mark.parametrize(
    ("speculation", "told"),
    [
        (Speculation(tokens=4, acceptance=0.5, draft=None), {"spec-method": "ngram", "spec-tokens": 4}),
        (
            Speculation(tokens=3, acceptance=0.5, draft=model("SmolLM2-135M")),
            {"spec-method": "draft_model", "spec-model": "SmolLM2-135M", "spec-tokens": 3},
        ),
    ],
)
def test_speculation_is_told_by_its_method(speculation: Speculation, told: dict[str, object]) -> None:
    one = asked("Qwen3-8B")
    flags = vllm_flags(planned(changed(one, replace(one.setup, speculation=speculation))))
    assert told.items() <= flags.items()


@pytest.mark.parametrize("on", ["l40s", CPU])
def test_a_profile_is_yaml_that_says_the_flags(on: str) -> None:
    plan = planned(asked("SmolLM2-135M", on=on))
    assert profile_text(plan).startswith(MARK)
    assert yaml.safe_load(profile_text(plan)) == vllm_flags(plan)


@pytest.mark.parametrize("name", ["/models/my draft", "a: b", "x #1", "it's", '"', "true-ish/模型", "-x"])
def test_a_name_of_any_letters_comes_back_from_the_profile_and_the_command(name: str) -> None:
    one = asked("Qwen3-8B")
    speculation = Speculation(tokens=2, acceptance=0.5, draft=replace(model("SmolLM2-135M"), name=name))
    plan = planned(changed(one, replace(one.setup, speculation=speculation)))
    assert yaml.safe_load(profile_text(plan))["spec-model"] == name
    assert f"--spec-model={name}" in shlex.split(command_line(plan))
