"""What a replica's metrics page says of its load, in the names of vLLM 0.32 and 0.33."""

from collections.abc import Mapping
from dataclasses import dataclass

_FIELDS: Mapping[str, str] = {
    "vllm:kv_cache_usage_perc": "kv_usage",
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
    "vllm:num_preemptions_total": "preemptions",
    "vllm:prefix_cache_queries_total": "prefix_queried",
    "vllm:prefix_cache_hits_total": "prefix_hit",
    "vllm:prompt_tokens_total": "prompt_tokens",
    "vllm:generation_tokens_total": "generation_tokens",
}
_KV_USAGE = "kv_usage"
_MOST = 1e15


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLoad:
    """None: the page does not say."""

    kv_usage: float | None = None
    running: int | None = None
    waiting: int | None = None
    preemptions: int | None = None
    prefix_queried: int | None = None
    prefix_hit: int | None = None
    prompt_tokens: int | None = None
    generation_tokens: int | None = None


def engine_load(page: str) -> EngineLoad:
    """Of several engines behind one page: their sum, and the KV use of the fullest.

    With several API servers all but one tell 0 for the KV use, so that a mean would be wrong.
    """
    found: dict[str, float] = {}
    for line in page.split("\n"):
        if not line.startswith("vllm:"):
            continue
        name = _FIELDS.get(line[: min(at for at in (line.find("{"), line.find(" "), len(line)) if at >= 0)])
        value = _number(line) if name is not None else None
        if name is None or value is None:
            continue
        found[name] = max(found.get(name, 0.0), value) if name == _KV_USAGE else found.get(name, 0.0) + value
    usage = found.pop(_KV_USAGE, None)
    return EngineLoad(kv_usage=usage, **{name: round(value) for name, value in found.items()})


def _number(line: str) -> float | None:
    """Labels may hold spaces; the value stands after the last brace. A timestamp may follow it."""
    words = line[line.rfind("}") + 1 :].split() if "}" in line else line.split()[1:]
    try:
        value = float(words[0])
    except (IndexError, ValueError):
        return None
    return value if 0 <= value <= _MOST else None
