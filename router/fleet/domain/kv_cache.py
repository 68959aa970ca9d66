"""How much KV cache a token takes, and how many sessions fit into a pool of blocks.

    bytes per token = 2 x layers x KV heads x head size x bytes per number

(a key and a value per layer and *KV* head; with grouped queries that is fewer than the query heads). A number takes 2
bytes in the model's own type and 1 in fp8. vLLM hands the pool out in blocks of `block_tokens` tokens, keeps one block
for itself, and shares whole blocks between sessions whose prompts begin alike. Source: vLLM's
`KVCacheSpec.page_size_bytes`, and Kwon et al., "Efficient Memory Management for Large Language Model Serving with
PagedAttention", SOSP 2023, section 4.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from router.fleet.domain.model_config import ModelConfig

OWN_BLOCKS: Final = 1
"""The null block, which vLLM takes out of every pool."""


class KvDtype(StrEnum):
    AUTO = "auto"
    FP8 = "fp8"


NUMBER_BYTES: Final = {KvDtype.AUTO: 2, KvDtype.FP8: 1}


def kv_bytes_per_token(model: ModelConfig, dtype: KvDtype) -> int:
    return 2 * model.layers * model.kv_heads * model.head_size * NUMBER_BYTES[dtype]


@dataclass(frozen=True, slots=True)
class KvPool:
    blocks: int
    block_tokens: int

    @property
    def usable_blocks(self) -> int:
        return max(0, self.blocks - OWN_BLOCKS)

    @property
    def tokens(self) -> int:
        return self.usable_blocks * self.block_tokens


def kv_pool(pool_bytes: int, *, token_bytes: int, block_tokens: int) -> KvPool:
    return KvPool(blocks=max(0, pool_bytes) // (token_bytes * block_tokens), block_tokens=block_tokens)


def sessions_in(pool: KvPool, *, context_tokens: int, shared_tokens: int, ahead_tokens: int) -> int:
    """How many sessions of `context_tokens` have their whole cache in the pool at once.

    The first `shared_tokens` are the same for all and stand there once, in whole blocks; the last token of a session is
    always its own, and up to `ahead_tokens` of speculation are written past it.
    """
    shared = min(shared_tokens, context_tokens - 1) // pool.block_tokens
    whole = -(-(context_tokens + ahead_tokens) // pool.block_tokens)
    return max(0, pool.usable_blocks - shared) // (whole - shared)
