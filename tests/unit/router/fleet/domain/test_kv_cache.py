import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.kv_cache import KvDtype, KvPool, kv_bytes_per_token, kv_pool, sessions_in
from tests.unit.router.fleet.domain.five_models import model

GIB = 2**30


@pytest.mark.parametrize(
    ("name", "by_hand", "kib"),
    [
        ("Qwen2.5-7B", 2 * 28 * 4 * 128 * 2, 56),
        ("Llama-3.1-8B", 2 * 32 * 8 * 128 * 2, 128),
        ("Qwen3-8B", 2 * 36 * 8 * 128 * 2, 144),
        ("Qwen2.5-14B", 2 * 48 * 8 * 128 * 2, 192),
        ("Qwen2.5-32B", 2 * 64 * 8 * 128 * 2, 256),
    ],
)
def test_a_token_takes_a_key_and_a_value_for_each_layer_and_kv_head(name: str, by_hand: int, kib: int) -> None:
    assert kv_bytes_per_token(model(name), KvDtype.AUTO) == by_hand == kib * 1024
    assert kv_bytes_per_token(model(name), KvDtype.FP8) == kib * 512


def test_the_pool_of_a_real_replica_is_told_to_the_token() -> None:
    """SmolLM2-135M with VLLM_CPU_KVCACHE_SPACE=1 says "46,592 tokens" at a block size of 32."""
    token = kv_bytes_per_token(model("SmolLM2-135M"), KvDtype.AUTO)
    assert token == 2 * 30 * 3 * 64 * 2
    assert kv_pool(GIB, token_bytes=token, block_tokens=32).blocks * 32 == 46_592
    assert kv_pool(GIB, token_bytes=token // 2, block_tokens=32).blocks * 32 == 93_184  # with --kv-cache-dtype fp8


def test_sessions_are_rounded_up_to_whole_blocks() -> None:
    pool = KvPool(blocks=101, block_tokens=16)
    assert pool.tokens == 1600
    assert sessions_in(pool, context_tokens=160, shared_tokens=0, ahead_tokens=0) == 10
    assert sessions_in(pool, context_tokens=161, shared_tokens=0, ahead_tokens=0) == 9
    assert sessions_in(pool, context_tokens=160, shared_tokens=0, ahead_tokens=1) == 9


def test_what_all_sessions_begin_with_stands_there_once_in_whole_blocks() -> None:
    # 100 blocks of 16; ten a session, of which 79 tokens are shared: four whole blocks. (100 - 4) / (10 - 4) = 16
    pool = KvPool(blocks=101, block_tokens=16)
    assert sessions_in(pool, context_tokens=160, shared_tokens=79, ahead_tokens=0) == 16


def test_a_pool_without_room_holds_nobody() -> None:
    assert kv_pool(-5, token_bytes=1, block_tokens=16) == KvPool(0, 16)
    assert sessions_in(KvPool(0, 16), context_tokens=1, shared_tokens=0, ahead_tokens=0) == 0
    assert sessions_in(KvPool(3, 16), context_tokens=64, shared_tokens=64, ahead_tokens=0) == 0


POOLS = st.builds(KvPool, blocks=st.integers(0, 100_000), block_tokens=st.sampled_from([1, 16, 32, 128]))


@given(POOLS, st.integers(1, 40_000), st.integers(0, 40_000), st.integers(0, 16), st.integers(1, 5_000))
def test_more_context_holds_no_more_sessions_and_more_memory_no_fewer(
    pool: KvPool, context: int, shared: int, ahead: int, more: int
) -> None:
    held = sessions_in(pool, context_tokens=context, shared_tokens=shared, ahead_tokens=ahead)
    longer = sessions_in(
        pool, context_tokens=context + more, shared_tokens=min(shared, context - 1), ahead_tokens=ahead
    )
    larger = KvPool(blocks=pool.blocks + more, block_tokens=pool.block_tokens)
    assert longer <= held
    assert sessions_in(larger, context_tokens=context, shared_tokens=shared, ahead_tokens=ahead) >= held


@given(POOLS, st.integers(1, 40_000), st.integers(0, 40_000))
def test_the_sessions_that_are_told_fit(pool: KvPool, context: int, shared: int) -> None:
    held = sessions_in(pool, context_tokens=context, shared_tokens=shared, ahead_tokens=0)
    if held:
        common = min(shared, context - 1) // pool.block_tokens
        assert common + held * (-(-context // pool.block_tokens) - common) <= pool.usable_blocks
