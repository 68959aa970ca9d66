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
    """Of a chunk that is computed alone. However a prompt is cut, its chunks add up to the cost of the whole."""
    return (cost.base_ms if chunk.opens else 0.0) + _work_ms(cost, chunk)


def decode_ms(cost: DecodeCost, sequences: int) -> float:
    """Of one token for each sequence, with no prompt beside them."""
    return cost.weights_ms + cost.per_sequence_ms * sequences if sequences else 0.0


def step_ms(prefill: PrefillCost, decode: DecodeCost, chunks: Sequence[Chunk], decoding: int) -> float:
    """Prompts and replies share what a step costs in any case, and pay each for their own work.

    Seen on vLLM for CPU: beside one reply a prompt of 90 tokens made the step 138 ms long and one of 230 tokens 338 ms,
    where the prompts alone take 150 and 338, and both one after the other would take 181 and 370. That the base is
    paid per prompt is seen there too: of 8 prompts of 22 tokens sent together the middle one had its first token after
    529 ms, which is 8 times what one takes.
    """
    bases_ms = prefill.base_ms * sum(1 for chunk in chunks if chunk.opens)
    weights_ms = decode.weights_ms if decoding else 0.0
    work_ms = sum(_work_ms(prefill, chunk) for chunk in chunks)
    return max(bases_ms, weights_ms) + work_ms + decode.per_sequence_ms * decoding


def _work_ms(cost: PrefillCost, chunk: Chunk) -> float:
    return cost.per_token_ms * chunk.tokens + cost.per_pair_ms * chunk.tokens * (chunk.before + chunk.tokens / 2)
