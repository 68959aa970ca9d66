"""Where the memory of one replica goes, in bytes: weights, activations, graphs, the runtime, and what is left for KV.

On a GPU vLLM takes `utilisation` of the whole memory and gives to the KV pool what its profiling run leaves of that:

    KV pool = utilisation x memory - weights - draft weights - activations - graphs - runtime

Weights and KV are exact. The other three are estimates, to be replaced by what the replica's log says:

    activations  2T(2m + 4h)   T batched tokens in a layer of MLP width m and hidden size h, two bytes a number
                 + 10SV        logits of S sequences over a vocabulary of V, once in two bytes and twice in four
    graphs       0.5 GiB       CUDA graphs, none under --enforce-eager
    runtime      0.3 GiB       CUDA context and libraries outside of torch

On a CPU the pool is set in whole GiB (VLLM_CPU_KVCACHE_SPACE); the runtime is 1.75 GiB of interpreters, libraries and
activations in its three processes, fitted to vLLM 0.32 (the test of this module holds what was measured).
"""

from dataclasses import dataclass
from typing import Final

from router.fleet.domain.devices import GIB, Device
from router.fleet.domain.kv_cache import KvDtype, KvPool, kv_bytes_per_token, kv_pool
from router.fleet.domain.model_config import ModelConfig
from router.fleet.domain.speculation import Speculation
from router.fleet.domain.weights import Quantisation, weights

GRAPH_BYTES: Final = GIB // 2
GPU_RUNTIME_BYTES: Final = 3 * GIB // 10
CPU_RUNTIME_BYTES: Final = 7 * GIB // 4
GPU_BLOCK_TOKENS: Final = 16
CPU_BLOCK_TOKENS: Final = 32
_LOGIT_BYTES: Final = 2 + 4 + 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSetup:
    """How one replica is started: what the flags of `vllm serve` say."""

    model: ModelConfig
    device: Device
    window_tokens: int
    max_num_seqs: int
    max_num_batched_tokens: int
    utilisation: float
    quantisation: Quantisation = Quantisation.BF16
    kv_dtype: KvDtype = KvDtype.AUTO
    eager: bool = False
    speculation: Speculation | None = None

    @property
    def block_tokens(self) -> int:
        return CPU_BLOCK_TOKENS if self.device.is_cpu else GPU_BLOCK_TOKENS

    @property
    def draft(self) -> ModelConfig | None:
        return self.speculation.draft if self.speculation is not None else None

    @property
    def ahead_tokens(self) -> int:
        return self.speculation.tokens if self.speculation is not None else 0

    @property
    def kv_token_bytes(self) -> int:
        """Of the model and of the draft model, whose caches share one table of blocks."""
        models = [self.model] if self.draft is None else [self.model, self.draft]
        return sum(kv_bytes_per_token(model, self.kv_dtype) for model in models)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBudget:
    total_bytes: int
    unused_bytes: int
    """Left to others: the share that `utilisation` does not take."""
    weight_bytes: int
    draft_weight_bytes: int
    activation_bytes: int
    graph_bytes: int
    runtime_bytes: int
    kv_bytes: int
    """Negative where the rest does not even fit."""
    kv_token_bytes: int
    pool: KvPool
    needed_tokens: int
    """A session's window, and what speculation writes past it."""

    @property
    def fits(self) -> bool:
        """vLLM starts only when one session of the whole window has room."""
        return self.pool.tokens >= self.needed_tokens


def memory_budget(setup: ReplicaSetup) -> MemoryBudget:
    total = setup.device.memory_bytes
    usable = int(total * setup.utilisation)
    weight_bytes = weights(setup.model, setup.quantisation).stored_bytes
    draft_bytes = 0 if setup.draft is None else weights(setup.draft, Quantisation.BF16).stored_bytes
    activations, graphs, runtime = _estimates(setup)
    left = usable - weight_bytes - draft_bytes - activations - graphs - runtime
    kv_bytes = left // GIB * GIB if setup.device.is_cpu else left
    return MemoryBudget(
        total_bytes=total,
        unused_bytes=total - usable + left - kv_bytes,
        weight_bytes=weight_bytes,
        draft_weight_bytes=draft_bytes,
        activation_bytes=activations,
        graph_bytes=graphs,
        runtime_bytes=runtime,
        kv_bytes=kv_bytes,
        kv_token_bytes=setup.kv_token_bytes,
        pool=kv_pool(kv_bytes, token_bytes=setup.kv_token_bytes, block_tokens=setup.block_tokens),
        needed_tokens=setup.window_tokens + setup.ahead_tokens,
    )


def _estimates(setup: ReplicaSetup) -> tuple[int, int, int]:
    if setup.device.is_cpu:
        return 0, 0, CPU_RUNTIME_BYTES
    model = setup.model
    layer = 2 * setup.max_num_batched_tokens * (2 * model.mlp_width + 4 * model.hidden)
    logits = _LOGIT_BYTES * setup.max_num_seqs * model.vocabulary
    return layer + logits, 0 if setup.eager else GRAPH_BYTES, GPU_RUNTIME_BYTES
