"""Whether a replica that answers is the one meant: its model, its window, its tokenizer."""

from collections.abc import Mapping
from dataclasses import dataclass

from router.domain.exchange import Message


@dataclass(frozen=True, slots=True)
class TokenSample:
    """A conversation and the tokens its whole prompt has, as this side counts."""

    messages: tuple[Message, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Expectation:
    """What every replica of the pool must show before it may serve."""

    model: str
    window_tokens: int
    samples: tuple[TokenSample, ...]


def model_misfit(expectation: Expectation, windows: Mapping[str, int]) -> str | None:
    """Why these served models and windows will not do; None when they do."""
    window = windows.get(expectation.model)
    if window is None:
        served = ", ".join(sorted(windows)) or "no model"
        return f"serves {served} instead of {expectation.model}"
    if window < expectation.window_tokens:
        return f"has a window of {window} tokens; {expectation.window_tokens} are needed"
    return None


def count_misfit(sample: TokenSample, counted: int) -> str | None:
    """Why this count shows another tokenizer or chat template; None when it agrees."""
    if counted == sample.tokens:
        return None
    return f"counts {counted} tokens in a sample that has {sample.tokens}: another tokenizer or chat template"
