from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.devices import CPU, GIB, device
from router.fleet.domain.kv_cache import KvDtype
from router.fleet.domain.memory_budget import MemoryBudget, ReplicaSetup, memory_budget
from router.fleet.domain.speculation import Speculation
from router.fleet.domain.weights import Quantisation
from tests.unit.router.fleet.domain.five_models import TOLD, model


def setup(name: str, on: str = "l40s") -> ReplicaSetup:
    found = device(on)
    assert found is not None
    return ReplicaSetup(
        model=model(name),
        device=found,
        window_tokens=4096,
        max_num_seqs=128,
        max_num_batched_tokens=2048,
        utilisation=0.92,
    )


def with_memory(one: ReplicaSetup, memory_bytes: int) -> ReplicaSetup:
    return replace(one, device=replace(one.device, memory_bytes=memory_bytes))


def parts(budget: MemoryBudget) -> int:
    return (
        budget.unused_bytes
        + budget.weight_bytes
        + budget.draft_weight_bytes
        + budget.activation_bytes
        + budget.graph_bytes
        + budget.runtime_bytes
        + budget.kv_bytes
    )


# A card of 46,068 MiB, 0.92 of it used: int(46068 x 2^20 x 0.92) = 44,441,335,234 bytes. Beside the weights stand
# activations of 2 x 2048 x (2m + 4h) + 10 x 128 x V bytes, 536,870,912 of graphs and 322,122,547 of runtime.
USABLE = 44_441_335_234
KV_BY_HAND = {
    "Qwen2.5-7B": USABLE
    - 2 * 7_615_616_512
    - (2 * 2048 * (2 * 18944 + 4 * 3584) + 10 * 128 * 152064)
    - 536_870_912
    - 322_122_547,
    "Qwen2.5-14B": USABLE
    - 2 * 14_770_033_664
    - (2 * 2048 * (2 * 13824 + 4 * 5120) + 10 * 128 * 152064)
    - 536_870_912
    - 322_122_547,
    "Qwen2.5-32B": USABLE
    - 2 * 32_763_876_352
    - (2 * 2048 * (2 * 27648 + 4 * 5120) + 10 * 128 * 152064)
    - 536_870_912
    - 322_122_547,
    "Qwen3-8B": USABLE
    - 2 * 8_190_735_360
    - (2 * 2048 * (2 * 12288 + 4 * 4096) + 10 * 128 * 151936)
    - 536_870_912
    - 322_122_547,
    "Llama-3.1-8B": USABLE
    - 2 * 8_030_261_248
    - (2 * 2048 * (2 * 14336 + 4 * 4096) + 10 * 128 * 128256)
    - 536_870_912
    - 322_122_547,
}
# Whole blocks of 16 tokens: kv // (16 x KV bytes of a token), of which vLLM keeps one; a window of 4,096 is 256 blocks.
BLOCK_BYTES = {
    "Qwen2.5-7B": 16 * 57_344,
    "Qwen2.5-14B": 16 * 196_608,
    "Qwen2.5-32B": 16 * 262_144,
    "Qwen3-8B": 16 * 147_456,
    "Llama-3.1-8B": 16 * 131_072,
}


@pytest.mark.parametrize("name", KV_BY_HAND)
def test_the_kv_pool_equals_the_sum_by_hand(name: str) -> None:
    budget = memory_budget(setup(name))
    assert budget.kv_bytes == KV_BY_HAND[name]
    assert budget.pool.blocks == max(0, KV_BY_HAND[name]) // BLOCK_BYTES[name]
    assert budget.fits == (name != "Qwen2.5-32B")


def test_fp8_kv_doubles_the_blocks() -> None:
    halved = memory_budget(replace(setup("Qwen3-8B"), kv_dtype=KvDtype.FP8))
    assert halved.pool.blocks == KV_BY_HAND["Qwen3-8B"] // (16 * 73_728)


def test_an_eager_replica_keeps_the_room_of_the_graphs() -> None:
    eager = memory_budget(replace(setup("Qwen3-8B"), eager=True))
    assert eager.kv_bytes - KV_BY_HAND["Qwen3-8B"] == GIB // 2


def test_a_draft_model_takes_its_weights_and_its_part_of_every_token() -> None:
    drafted = memory_budget(
        replace(setup("Qwen3-8B"), speculation=Speculation(tokens=4, acceptance=0.6, draft=model("SmolLM2-135M")))
    )
    assert drafted.draft_weight_bytes == 2 * 134_515_008
    assert drafted.kv_token_bytes == 147_456 + 23_040
    assert drafted.kv_bytes == KV_BY_HAND["Qwen3-8B"] - 2 * 134_515_008


def test_guesses_from_the_prompt_take_no_memory() -> None:
    guessed = memory_budget(replace(setup("Qwen3-8B"), speculation=Speculation(tokens=4, acceptance=0.6, draft=None)))
    assert guessed.kv_bytes == KV_BY_HAND["Qwen3-8B"]
    assert guessed.kv_token_bytes == 147_456


def test_a_cpu_replica_gets_its_kv_in_whole_gib() -> None:
    # 8 GiB x 0.92 = 7.36, less 0.25 of weights and 1.75 of processes: 5.36, of which 5 are KV.
    budget = memory_budget(setup("SmolLM2-135M", on=CPU))
    assert budget.kv_bytes == 5 * GIB
    assert budget.pool.block_tokens == 32
    assert (budget.activation_bytes, budget.graph_bytes) == (0, 0)
    assert budget.fits


@pytest.mark.parametrize(
    ("kv_gib", "weight_bytes", "measured_gib"),
    [
        (1, 2 * 134_515_008, 2.962),
        (3, 2 * 134_515_008, 4.962),
        # Random weights: hidden 1536, MLP 4096, 16 layers, 12 and 4 heads of 128, vocabulary 49,152, untied.
        (2, 2 * (2 * 49152 * 1536 + 16 * (2 * 1536 * 1536 + 2 * 1536 * 512 + 3 * 1536 * 4096)), 4.910),
    ],
)
def test_what_real_replicas_on_cpu_take_is_predicted_within_a_tenth(
    kv_gib: int, weight_bytes: int, measured_gib: float
) -> None:
    """vLLM 0.32 on one core, proportional set sizes of all its processes after a prompt of 3,000 tokens."""
    runtime = memory_budget(setup("SmolLM2-135M", on=CPU)).runtime_bytes
    predicted = (weight_bytes + runtime) / GIB + kv_gib
    assert predicted == pytest.approx(measured_gib, rel=0.1)


SETUPS = st.builds(
    lambda name, on, kind, kv: replace(setup(name, on=on), quantisation=kind, kv_dtype=kv),
    st.sampled_from(sorted(TOLD)),
    st.sampled_from(["l4", "l40s", "h200", CPU]),
    st.sampled_from(Quantisation),
    st.sampled_from(KvDtype),
)


@given(SETUPS)
def test_the_parts_are_the_whole(one: ReplicaSetup) -> None:
    assert parts(memory_budget(one)) == one.device.memory_bytes


@given(SETUPS, st.integers(0, 100 * GIB))
def test_more_memory_never_makes_the_pool_smaller(one: ReplicaSetup, more: int) -> None:
    larger = memory_budget(with_memory(one, one.device.memory_bytes + more))
    assert larger.pool.blocks >= memory_budget(one).pool.blocks


@given(SETUPS, st.integers(1, 30_000))
def test_a_longer_window_never_begins_to_fit(one: ReplicaSetup, more: int) -> None:
    longer = replace(one, window_tokens=one.window_tokens + more)
    assert memory_budget(one).fits or not memory_budget(longer).fits
