"""How long one engine step takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadtests.simulator.domain.profile import DecodeCost, PrefillCost


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a prompt computed in one step: `tokens` of it, after the `before` that stand in the cache already."""

    tokens: int
    before: int
    opens: bool
    """The request's first chunk since it was admitted."""


def chunk_ms(cost: PrefillCost, chunk: Chunk) -> float:
    """However a prompt is cut into chunks, they add up to the cost of the whole: its base is paid once."""
    base_ms = cost.base_ms if chunk.opens else 0.0
    pairs = chunk.tokens * (chunk.before + chunk.tokens / 2)
    return base_ms + cost.per_token_ms * chunk.tokens + cost.per_pair_ms * pairs


def decode_ms(cost: DecodeCost, sequences: int) -> float:
    return cost.weights_ms + cost.per_sequence_ms * sequences if sequences else 0.0


def step_ms(prefill: PrefillCost, decode: DecodeCost, chunks: Sequence[Chunk], decoding: int) -> float:
    """Prompts and replies take turns inside a step, so their times add up.

    That the base is paid per prompt, and not per step, is what the recordings show: of 8 prompts of 22 tokens sent
    together to the CPU the middle one had its first token after 529 ms, which is 8 times 64 ms.
    """
    return sum(chunk_ms(prefill, chunk) for chunk in chunks) + decode_ms(decode, decoding)
