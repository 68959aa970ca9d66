"""The blocks of the KV cache."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.simulator.domain.kv_pool import BlockId, KvPool, prefix_hash, root_hash

A, B, C = (root_hash(letter) for letter in "abc")


def filled(pool: KvPool, *hashes: bytes) -> list[BlockId]:
    blocks = pool.take(len(hashes))
    for block, hash_ in zip(blocks, hashes, strict=True):
        pool.publish(block, hash_)
    return blocks


def test_a_prefix_hash_depends_on_salt_on_what_stands_before_and_on_the_tokens() -> None:
    hashes = {
        prefix_hash(root, tokens) for root in (root_hash(""), root_hash("tenant")) for tokens in ((1, 2), (2, 1), (12,))
    }
    assert len(hashes) == 6
    assert prefix_hash(A, (1, 2)) == prefix_hash(A, (1, 2))
    assert prefix_hash(A, (2**200,)) != prefix_hash(A, (2**201,))


def test_a_released_block_is_found_again() -> None:
    pool = KvPool(blocks=4)
    blocks = filled(pool, A, B)
    pool.release(blocks)
    assert pool.free == 4
    assert pool.usage == 0
    assert pool.find([A, B, C]) == blocks


def test_a_prefix_ends_at_the_first_block_that_is_missing() -> None:
    pool = KvPool(blocks=4)
    blocks = filled(pool, A, C)
    assert pool.find([A, B, C]) == blocks[:1]


def test_the_longest_unused_block_is_taken_first() -> None:
    pool = KvPool(blocks=2)
    pool.release(filled(pool, A))
    pool.release(filled(pool, B))
    pool.take(1)
    assert pool.find([A]) == []
    assert pool.find([B]) != []


def test_of_one_request_the_end_goes_before_the_beginning() -> None:
    pool = KvPool(blocks=3)
    pool.release(filled(pool, A, B, C))
    pool.take(1)
    assert len(pool.find([A, B, C])) == 2


def test_holding_a_block_again_makes_it_young() -> None:
    pool = KvPool(blocks=2)
    first, second = filled(pool, A), filled(pool, B)
    pool.release(first)
    pool.release(second)
    pool.hold(pool.find([A]))
    pool.release(first)
    pool.take(1)
    assert pool.find([A]) == first


def test_a_shared_block_is_free_when_the_last_holder_left() -> None:
    pool = KvPool(blocks=2)
    blocks = filled(pool, A)
    assert pool.unheld(blocks) == 0
    pool.hold(blocks)
    pool.release(blocks)
    assert pool.free == 1
    assert pool.usage == 0.5
    pool.release(blocks)
    assert pool.free == 2
    assert pool.unheld(blocks) == 1


def test_more_than_is_free_cannot_be_taken() -> None:
    pool = KvPool(blocks=1)
    with pytest.raises(ValueError, match="2 blocks wanted, 1 free"):
        pool.take(2)


def test_of_two_blocks_with_the_same_content_the_first_is_found() -> None:
    pool = KvPool(blocks=2)
    first, second = filled(pool, A), filled(pool, A)
    pool.release(second)
    pool.take(1)
    assert pool.find([A]) == first


def test_the_cache_is_emptied_only_when_nobody_holds_a_block() -> None:
    pool = KvPool(blocks=2)
    blocks = filled(pool, A)
    assert not pool.forget_all()
    assert pool.find([A]) == blocks
    pool.release(blocks)
    assert pool.forget_all()
    assert pool.find([A]) == []


def test_a_pool_without_blocks_is_not_in_use() -> None:
    pool = KvPool(blocks=0)
    assert pool.size == 0
    assert pool.usage == 0


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 4)), max_size=60))
def test_no_block_is_lost_or_held_twice(requests: list[tuple[str, int]]) -> None:
    pool = KvPool(blocks=8)
    held: list[list[BlockId]] = []
    for letter, length in requests:
        hashes = [root_hash(letter * n) for n in range(1, length + 1)]
        found = pool.find(hashes)
        while length - len(found) > pool.free - pool.unheld(found):
            pool.release(held.pop(0))
            found = pool.find(hashes)
        pool.hold(found)
        fresh = pool.take(length - len(found))
        assert not {block for blocks in held for block in blocks} & set(fresh)
        for block, hash_ in zip(fresh, hashes[len(found) :], strict=True):
            pool.publish(block, hash_)
        held.append([*found, *fresh])
        assert pool.free == 8 - len({block for blocks in held for block in blocks})
    for blocks in held:
        pool.release(blocks)
    assert pool.free == 8
