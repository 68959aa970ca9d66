"""Whether a replica that answers is the one meant: its model, its window, its tokenizer, its version and flags.

A *misfit* is why it must not serve, a *warning* is what works worse than it could; both are for an operator to act on.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from router.domain.engine_metrics import EngineMetrics
from router.domain.exchange import Message

# What the engine must know for a reply to be continued at all, and what it must know for that to be exact.
_OLDEST_VERSION = (0, 6)
_OLDEST_FULL_VERSION = (0, 10, 2)
KNOWN_GOOD_VERSIONS = "0.32"

SHUTDOWN_ADVICE = (
    "vLLM does not tell its shutdown time-out, and by default aborts running replies on SIGTERM: "
    "start it with --shutdown-timeout as long as a reply may take"
)
NO_PROMPT_DETAILS = (
    "does not report cached tokens (usage without prompt_tokens_details): start it with --enable-prompt-tokens-details"
)
NO_PREFIX_CACHE = "has no prefix cache, so that pins save nothing: start it with --enable-prefix-caching"


@dataclass(frozen=True, slots=True)
class TokenSample:
    """A conversation and the tokens its whole prompt has, as this side counts."""

    messages: tuple[Message, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Expectation:
    """What every replica of a model's pool must show before it may serve."""

    model: str
    window_tokens: int
    samples: tuple[TokenSample, ...]
    template_arguments: tuple[tuple[str, str], ...] = ()
    """What requests give to the chat template beside the messages; the samples are counted with it."""


def models_misfit(wanted: Collection[str], listed: Collection[str]) -> str | None:
    """Why these listed models will not do; None when they do. Wanting none in particular is wanting any."""
    served = ", ".join(sorted(listed)) or "no model"
    if missing := sorted(set(wanted) - set(listed)):
        return f"serves {served} instead of {', '.join(missing)}"
    return None if listed else "serves no model"


def expected_of(expectations: Sequence[Expectation], served: Collection[str]) -> tuple[Expectation, ...]:
    """What is expected of a replica that serves these models: an expectation for each pool that it belongs to."""
    return tuple(each for each in expectations if each.model in served)


def pools_misfit(expectations: Sequence[Expectation], served: Collection[str]) -> str:
    """Why a replica that belongs to none of the expected pools will not do."""
    named = ", ".join(sorted(served)) or "no model"
    return f"serves {named} instead of {' or '.join(each.model for each in expectations)}"


def window_misfit(expectation: Expectation, windows: Mapping[str, int | None], *, must_tell: bool) -> str | None:
    """Why the window of the expected model will not do; None when it does. Not every engine tells its window."""
    window = windows.get(expectation.model)
    if window is None:
        return f"does not tell its window; {expectation.window_tokens} tokens are needed" if must_tell else None
    if window < expectation.window_tokens:
        return f"has a window of {window} tokens; {expectation.window_tokens} are needed"
    return None


def count_misfit(sample: TokenSample, counted: int) -> str | None:
    """Why this count shows another tokenizer or chat template; None when it agrees."""
    if counted == sample.tokens:
        return None
    return f"counts {counted} tokens in a sample that has {sample.tokens}: another tokenizer or chat template"


def version_misfit(version: str | None) -> str | None:
    """Why a vLLM of this version must not serve; None when it may, or nobody knows."""
    known = _release(version)
    if known is None or known >= _OLDEST_VERSION:
        return None
    return f"is vLLM {version}, which cannot continue a reply; known good: {KNOWN_GOOD_VERSIONS}"


def version_warning(version: str | None) -> str | None:
    known = _release(version)
    if known is None:
        return f"does not tell which vLLM it is; known good: {KNOWN_GOOD_VERSIONS}"
    if known < _OLDEST_FULL_VERSION:
        return (
            f"is vLLM {version}, which gives no token ids, so that replies are continued by their text, "
            f"and does not keep tenants' caches apart on every path; known good: {KNOWN_GOOD_VERSIONS}"
        )
    return None


def cache_warning(metrics: EngineMetrics) -> str | None:
    return NO_PREFIX_CACHE if metrics.has_prefix_cache is False else None


def _release(version: str | None) -> tuple[int, ...] | None:
    """The leading numbers: (0, 11, 1) of "0.11.1rc2.dev7+gabc"."""
    start = re.match(r"\d{1,6}(?:\.\d{1,6}){1,3}", version or "", re.ASCII)
    return tuple(int(part) for part in start[0].split(".")) if start else None
