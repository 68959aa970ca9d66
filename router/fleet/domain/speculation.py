"""Speculative decoding: what is guessed ahead, by whom, and how many tokens a step is expected to give.

With k tokens guessed and each accepted with probability a, independently, a step gives (1 - a^(k+1)) / (1 - a) tokens.
Source: Leviathan, Kalman and Matias, "Fast Inference from Transformers via Speculative Decoding", ICML 2023, equation
1. The share a is a property of the drill's texts and must be measured (`vllm:spec_decode_num_accepted_tokens_total`);
nothing here knows it.
"""

from dataclasses import dataclass

from router.fleet.domain.model_config import ModelConfig


@dataclass(frozen=True, slots=True)
class Speculation:
    tokens: int
    acceptance: float
    draft: ModelConfig | None
    """The model that guesses, in bfloat16; None where guesses are copied from the prompt (ngram), which costs no
    memory."""

    @property
    def tokens_per_step(self) -> float:
        return sum(self.acceptance**power for power in range(self.tokens + 1))
