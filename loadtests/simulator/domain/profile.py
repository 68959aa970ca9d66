"""How fast and how large a simulated replica is, and where each figure comes from."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class SourceKind(StrEnum):
    MEASURED = "measured"
    FITTED = "fitted"
    """Set so that published figures come out."""
    REPORTED = "reported"
    """Taken over from documentation or from somebody's report."""
    DERIVED = "derived"
    """Follows from the model's shape or the hardware's data sheet."""
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Source:
    """Where one figure comes from; `figure` is its path, as `prefill.base_ms`."""

    figure: str
    kind: SourceKind
    why: str


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
    blocks: int | None = None
    """The size of the pool where it is given, and not what memory leaves."""


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
    """What it stands for, and in one sentence where its figures come from."""
    prefill: PrefillCost
    decode: DecodeCost
    memory: Memory
    limits: Limits
    start_up: StartUp
    sources: tuple[Source, ...] = ()
    """For each figure, where it comes from."""

    @property
    def blocks(self) -> int:
        """Blocks of the KV pool."""
        memory = self.memory
        if memory.blocks is not None:
            return memory.blocks
        pool = int(memory.total_bytes * memory.utilisation) - memory.weights_bytes - memory.activation_reserve_bytes
        block_bytes = memory.kv_bytes_per_token * self.limits.block_tokens
        return max(0, pool // block_bytes) if block_bytes > 0 else 0


def flaws(profile: Profile) -> Iterator[str]:
    """Why no engine can run with this profile; nothing when one can."""
    yield from _cost_flaws(profile)
    yield from _size_flaws(profile)
    # One block is kept back by the engine, and a request that never fits would wait for ever.
    room = (profile.blocks - 1) * profile.limits.block_tokens if profile.limits.block_tokens > 0 else 0
    if room < profile.limits.window_tokens:
        yield f"the pool holds {max(0, room)} tokens, less than one window of {profile.limits.window_tokens}"


def _cost_flaws(profile: Profile) -> Iterator[str]:
    costs = {
        "prefill.base_ms": profile.prefill.base_ms,
        "prefill.per_token_ms": profile.prefill.per_token_ms,
        "prefill.per_pair_ms": profile.prefill.per_pair_ms,
        "decode.weights_ms": profile.decode.weights_ms,
        "decode.per_sequence_ms": profile.decode.per_sequence_ms,
        "start_up.load_s": profile.start_up.load_s,
        "start_up.first_request_ms": profile.start_up.first_request_ms,
        "memory.activation_bytes_per_token": profile.memory.activation_bytes_per_token,
        "memory.activation_reserve_bytes": profile.memory.activation_reserve_bytes,
    }
    for name, value in costs.items():
        if not 0 <= value < float("inf"):
            yield f"{name} must be a number of at least 0, not {value}"


def _size_flaws(profile: Profile) -> Iterator[str]:
    sizes = {
        "limits.window_tokens": profile.limits.window_tokens,
        "limits.block_tokens": profile.limits.block_tokens,
        "limits.max_sequences": profile.limits.max_sequences,
        "limits.max_batched_tokens": profile.limits.max_batched_tokens,
        "memory.kv_bytes_per_token": profile.memory.kv_bytes_per_token,
    }
    for name, value in sizes.items():
        if value < 1:
            yield f"{name} must be at least 1, not {value}"
    if not 0 < profile.memory.utilisation <= 1:
        yield f"memory.utilisation must be above 0 and at most 1, not {profile.memory.utilisation}"
