"""How fast and how large a simulated replica is, and where each figure comes from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrefillCost:
    """Milliseconds of prefill: base_ms + per_token_ms * u + per_pair_ms * u * (c + u / 2).

    u are the uncached and c the cached prompt tokens; the last term is attention over what stands before.
    """

    base_ms: float
    per_token_ms: float
    per_pair_ms: float


@dataclass(frozen=True, slots=True)
class DecodeCost:
    """Milliseconds of one decode step: weights_ms + per_sequence_ms * running sequences."""

    weights_ms: float
    per_sequence_ms: float


@dataclass(frozen=True, slots=True)
class Memory:
    """GPU memory in bytes; what weights, activations and the reserve leave is the KV pool."""

    total_bytes: int
    utilisation: float
    weights_bytes: int
    kv_bytes_per_token: int
    activation_bytes_per_token: int
    """Of each token that is prefilled in one step; together with the reserve it is what an engine may die of."""
    activation_reserve_bytes: int


@dataclass(frozen=True, slots=True)
class Limits:
    window_tokens: int
    block_tokens: int
    max_sequences: int
    max_batched_tokens: int
    max_queued_requests: int | None = None


@dataclass(frozen=True, slots=True)
class StartUp:
    """Seconds from the start of the process until it listens, and milliseconds by which its first request is slower."""

    load_s: float
    first_request_ms: float


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    provenance: str
    """Where the figures come from: measured (when, on what), fitted to published figures, or assumed."""
    prefill: PrefillCost
    decode: DecodeCost
    memory: Memory
    limits: Limits
    start_up: StartUp

    @property
    def blocks(self) -> int:
        """Blocks of the KV pool."""
        memory = self.memory
        pool = int(memory.total_bytes * memory.utilisation) - memory.weights_bytes - memory.activation_reserve_bytes
        return max(0, pool // (memory.kv_bytes_per_token * self.limits.block_tokens))
