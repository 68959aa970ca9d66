"""What an engine's Prometheus page says of its load; what it does not say is unknown, never zero."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class EngineMetrics:
    """One replica's figures, summed over its engines where it has several (data parallel). None: it does not tell."""

    running: int | None = None
    waiting: int | None = None
    kv_usage: float | None = None
    """The share of the KV cache held by running requests, 0 to 1; of its engines the fullest."""
    kv_capacity_tokens: int | None = None
    tokens_total: int | None = None
    """Tokens read and written since the engine's start: that it grows is the sign that the engine works."""
    has_prefix_cache: bool | None = None


class _Figure(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"
    KV_USAGE = "KV usage"
    KV_CAPACITY = "KV capacity"
    TOKENS = "tokens"


_NAMES: Mapping[str, _Figure] = {
    "vllm:num_requests_running": _Figure.RUNNING,
    "vllm:num_requests_waiting": _Figure.WAITING,
    "vllm:kv_cache_usage_perc": _Figure.KV_USAGE,
    "vllm:gpu_cache_usage_perc": _Figure.KV_USAGE,
    "vllm:prompt_tokens_total": _Figure.TOKENS,
    "vllm:generation_tokens_total": _Figure.TOKENS,
    "sglang:num_running_reqs": _Figure.RUNNING,
    "sglang:num_queue_reqs": _Figure.WAITING,
    "sglang:token_usage": _Figure.KV_USAGE,
    "sglang:max_total_num_tokens": _Figure.KV_CAPACITY,
    "sglang:prompt_tokens_total": _Figure.TOKENS,
    "sglang:generation_tokens_total": _Figure.TOKENS,
    "llamacpp:requests_processing": _Figure.RUNNING,
    "llamacpp:requests_deferred": _Figure.WAITING,
    "llamacpp:kv_cache_usage_ratio": _Figure.KV_USAGE,
    "llamacpp:prompt_tokens_total": _Figure.TOKENS,
    "llamacpp:tokens_predicted_total": _Figure.TOKENS,
}
_ENGINES = ("vllm:", "sglang:", "llamacpp:")
_CACHE_CONFIG = "vllm:cache_config_info"

# Whatever a page holds, reading it takes a time in proportion to its length.
_LABELS = re.compile(r'\{(?:[^"}]|"(?:[^"\\]|\\.)*+")*+\}')
_LABEL = re.compile(r'\b(\w++)="((?:[^"\\]|\\.)*+)"')
_MOST = 10**15
"""No count is larger."""


def read_metrics(page: str) -> EngineMetrics:
    """The figures that the page has, in whichever engine's names. Nonsense in it is an unknown figure."""
    page = f"\n{page}\n"
    found: defaultdict[_Figure, list[float]] = defaultdict(list)
    engines = tuple(engine for engine in _ENGINES if f"\n{engine}" in page)
    for name, figure in _NAMES.items():
        if not name.startswith(engines):
            continue
        values = (_number(_without_labels(rest)) for rest in _samples(page, name))
        found[figure] += [value for value in values if value is not None]
    caches = [dict(_LABEL.findall(rest)) for rest in _samples(page, _CACHE_CONFIG)]
    found[_Figure.KV_CAPACITY] += [size for cache in caches if (size := _capacity(cache)) is not None]
    return EngineMetrics(
        running=_total(found[_Figure.RUNNING]),
        waiting=_total(found[_Figure.WAITING]),
        kv_usage=max((share for share in found[_Figure.KV_USAGE] if share <= 1), default=None),
        kv_capacity_tokens=_total(found[_Figure.KV_CAPACITY]),
        tokens_total=_total(found[_Figure.TOKENS]),
        has_prefix_cache=_all_have_prefix_cache(caches),
    )


def _samples(page: str, name: str) -> Iterator[str]:
    """What follows the name in each of its lines. Of vLLM's 600 lines ten matter, and searching cuts out no other."""
    start = f"\n{name}"
    at = page.find(start)
    while at >= 0:
        at += len(start)
        if page[at] in "{ ":
            yield page[at : page.index("\n", at)]
        at = page.find(start, at)


def _without_labels(rest: str) -> str:
    labels = _LABELS.match(rest)
    return rest if labels is None else rest[labels.end() :]


def _total(values: Sequence[float]) -> int | None:
    return int(sum(values)) if values else None


def _number(text: str) -> float | None:
    try:
        value = float(text.split(maxsplit=1)[0])
    except (ValueError, IndexError):
        return None
    return value if 0 <= value <= _MOST else None


def _capacity(cache: Mapping[str, str]) -> float | None:
    whole = _count(cache, "kv_cache_size_tokens")
    if whole is not None:
        return whole
    block, blocks = _count(cache, "block_size"), _count(cache, "num_gpu_blocks")
    return None if block is None or blocks is None else block * blocks


def _count(cache: Mapping[str, str], label: str) -> int | None:
    text = cache.get(label, "")
    return int(text) if len(text) <= len(str(_MOST)) and text.isascii() and text.isdigit() else None


def _all_have_prefix_cache(caches: Sequence[Mapping[str, str]]) -> bool | None:
    told = [cache["enable_prefix_caching"] for cache in caches if "enable_prefix_caching" in cache]
    return all(text == "True" for text in told) if told else None
