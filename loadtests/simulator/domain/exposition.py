"""/metrics as vLLM 0.32 writes it: its names, labels, buckets and help, with an engine's figures behind them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadtests.simulator.domain.figures import Distributions, Figures, Histogram
from loadtests.simulator.domain.generation import FinishReason

_OFFLOADED, _DISCARDED = 1, 2  # levels of sleep

_HISTOGRAMS: Mapping[str, tuple[str, Callable[[Distributions], Histogram]]] = {
    "request_prompt_tokens": ("Number of prefill tokens processed.", lambda seen: seen.prompt_tokens),
    "request_generation_tokens": ("Number of generation tokens processed.", lambda seen: seen.generated_tokens),
    "iteration_tokens_total": ("Histogram of number of tokens per engine_step.", lambda seen: seen.step_tokens),
    "request_max_num_generation_tokens": (
        "Histogram of maximum number of requested generation tokens.",
        lambda seen: seen.generated_tokens,
    ),
    "request_params_n": ("Histogram of the n request parameter.", lambda seen: _ones(seen.prompt_tokens)),
    "request_params_max_tokens": ("Histogram of the max_tokens request parameter.", lambda seen: seen.max_tokens),
    "time_to_first_token_seconds": ("Histogram of time to first token in seconds.", lambda seen: seen.first_token_s),
    "inter_token_latency_seconds": ("Histogram of inter-token latency in seconds.", lambda seen: seen.between_tokens_s),
    "request_time_per_output_token_seconds": (
        "Histogram of time_per_output_token_seconds per request.",
        lambda seen: seen.per_output_token_s,
    ),
    "e2e_request_latency_seconds": ("Histogram of e2e request latency in seconds.", lambda seen: seen.whole_s),
    "request_queue_time_seconds": (
        "Histogram of time spent in WAITING phase for request.",
        lambda seen: seen.queue_s,
    ),
    "request_inference_time_seconds": (
        "Histogram of time spent in RUNNING phase for request.",
        lambda seen: seen.inference_s,
    ),
    "request_prefill_time_seconds": (
        "Histogram of time spent in PREFILL phase for request.",
        lambda seen: seen.prefill_s,
    ),
    "request_decode_time_seconds": (
        "Histogram of time spent in DECODE phase for request.",
        lambda seen: seen.decode_s,
    ),
    "request_num_preemptions": (
        "Histogram of the number of times a request was preempted.",
        lambda seen: seen.preemptions,
    ),
    "request_prefill_kv_computed_tokens": (
        "Histogram of new KV tokens computed during prefill (excluding cached tokens).",
        lambda seen: seen.computed_tokens,
    ),
}

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Whose metrics these are, and since when; `cache` are the labels of `vllm:cache_config_info`."""

    model: str
    created_s: float
    cache: Labels


def exposition(subject: Subject, figures: Figures) -> str:
    lines: list[str] = []
    engine = {"engine": "0", "model_name": subject.model}
    for gauge in _gauges(figures):
        lines += _family(gauge, "gauge", engine)
    for counter in _counters(figures):
        own = {"model_name": subject.model} if counter.name == "admission_rejections" else engine
        lines += _family(counter, "counter", own)
        lines += _created(counter, own, subject.created_s)
    for name, (told, of) in _HISTOGRAMS.items():
        lines += _histogram(name, told, of(figures.distributions), engine)
        lines += _created(_Family(name, told, ()), engine, subject.created_s)
    info = _Family("cache_config_info", "Information of the LLMEngine CacheConfig", ((subject.cache, 1.0),))
    lines += _family(info, "gauge", {"engine": "0"})
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Family:
    """One metric without its prefix; its values by the labels beyond those of the engine."""

    name: str
    told: str
    values: Sequence[tuple[Labels, float]]


def _plain(name: str, told: str, value: float) -> _Family:
    return _Family(name, told, (({}, value),))


def _by(label: str, values: Mapping[str, float]) -> Sequence[tuple[Labels, float]]:
    return tuple(({label: name}, value) for name, value in values.items())


def _gauges(figures: Figures) -> Iterable[_Family]:
    waiting = float(figures.waiting)
    asleep = figures.sleep_level
    states = {
        "awake": float(asleep is None),
        "weights_offloaded": float(asleep == _OFFLOADED),
        "discard_all": float(asleep == _DISCARDED),
    }
    return (
        _plain("num_requests_running", "Number of requests in model execution batches.", figures.running),
        _plain("num_requests_waiting", "Number of requests waiting to be processed.", waiting),
        _Family(
            "num_requests_waiting_by_reason",
            "Number of waiting requests by reason. Reason labels: 'capacity' = waiting for scheduling capacity; "
            "'deferred' = deferred by transient constraints (LoRA budget, KV transfer, blocked status). "
            "Sum of all reasons equals vllm:num_requests_waiting.",
            _by("reason", {"capacity": waiting, "deferred": 0.0}),
        ),
        _Family(
            "engine_sleep_state",
            "Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is awake; "
            "weights_offloaded = 1 means sleep level 1; discard_all = 1 means sleep level 2.",
            _by("sleep_state", states),
        ),
        _plain("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", figures.kv_usage),
    )


def _counters(figures: Figures) -> Iterable[_Family]:
    cached = float(figures.cached_tokens)
    sources = {"local_compute": figures.prompt_tokens - cached, "local_cache_hit": cached, "external_kv_transfer": 0.0}
    tiers = {"device": cached, "host": 0.0, "p2p": 0.0, "disk": 0.0, "external_unspecified": 0.0}
    # An abort by a client that has gone is not among the finished, on vLLM neither.
    reasons = {reason.value: float(figures.finished.get(reason, 0)) for reason in FinishReason}
    rejections = {"max_num_queued_reqs": float(figures.rejected), "max_num_queued_tokens": 0.0}
    mfu = "(for Model Flops Utilization calculations)."
    return (
        _plain("estimated_flops_per_gpu", f"Estimated number of floating point operations per GPU {mfu}", 0.0),
        _plain("estimated_read_bytes_per_gpu", f"Estimated number of bytes read from memory per GPU {mfu}", 0.0),
        _plain("estimated_write_bytes_per_gpu", f"Estimated number of bytes written to memory per GPU {mfu}", 0.0),
        _plain(
            "prefix_cache_queries",
            "Prefix cache queries, in terms of number of queried tokens.",
            figures.prefix_queried_tokens,
        ),
        _plain(
            "prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.", figures.prefix_hit_tokens
        ),
        _plain(
            "external_prefix_cache_queries",
            "External prefix cache queries from KV connector cross-instance cache sharing, "
            "in terms of number of queried tokens.",
            0.0,
        ),
        _plain(
            "external_prefix_cache_hits",
            "External prefix cache hits from KV connector cross-instance cache sharing, "
            "in terms of number of cached tokens.",
            0.0,
        ),
        _plain("mm_cache_queries", "Multi-modal cache queries, in terms of number of queried items.", 0.0),
        _plain("mm_cache_hits", "Multi-modal cache hits, in terms of number of cached items.", 0.0),
        _plain("num_preemptions", "Cumulative number of preemption from the engine.", figures.preemptions),
        _plain("prompt_tokens", "Number of prefill tokens processed.", figures.prompt_tokens),
        _Family("prompt_tokens_by_source", "Number of prompt tokens by source.", _by("source", sources)),
        _plain("prompt_tokens_cached", "Number of cached prompt tokens (local + external).", cached),
        _Family(
            "prompt_tokens_cached_by_source",
            "Prefix-cache hit tokens by the cache tier that supplied them: device (local HBM), "
            "host (offloaded to DRAM), disk, p2p (transferred from another vLLM instance) or external_unspecified. "
            "Counted at admission; sums to vllm:prefix_cache_hits + vllm:external_prefix_cache_hits.",
            _by("source", tiers),
        ),
        _plain("generation_tokens", "Number of generation tokens processed.", figures.generation_tokens),
        _Family(
            "request_success",
            "Count of successfully processed requests.",
            _by("finished_reason", {**reasons, "error": 0.0, "repetition": 0.0}),
        ),
        _Family(
            "admission_rejections",
            "Number of admission attempts rejected by a queue limit, by reason.",
            _by("reason", rejections),
        ),
    )


def _family(family: _Family, kind: str, engine: Labels) -> list[str]:
    name = f"vllm:{family.name}_total" if kind == "counter" else f"vllm:{family.name}"
    samples = [f"{name}{_labels({**engine, **own})} {_number(value)}" for own, value in family.values]
    return [f"# HELP {name} {family.told}", f"# TYPE {name} {kind}", *samples]


def _created(family: _Family, engine: Labels, created_s: float) -> list[str]:
    moments = tuple((own, created_s) for own, _ in family.values) or (({}, created_s),)
    return _family(_Family(f"{family.name}_created", family.told, moments), "gauge", engine)


def _histogram(name: str, told: str, seen: Histogram, engine: Labels) -> list[str]:
    lines = [f"# HELP vllm:{name} {told}", f"# TYPE vllm:{name} histogram"]
    total = 0
    for bound, count in zip((*seen.bounds, float("inf")), seen.counts, strict=True):
        total += count
        shown = "+Inf" if bound == float("inf") else _number(bound)
        lines.append(f"vllm:{name}_bucket{_labels({**engine, 'le': shown})} {_number(total)}")
    labels = _labels(engine)
    return [*lines, f"vllm:{name}_count{labels} {_number(total)}", f"vllm:{name}_sum{labels} {_number(seen.sum)}"]


def _ones(requests: Histogram) -> Histogram:
    """Choices of one request are requests of their own here, so each of them asks for one."""
    ones = Histogram((1.0, 2.0, 5.0, 10.0, 20.0))
    ones.counts[0] = sum(requests.counts)
    ones.sum = float(ones.counts[0])
    return ones


def _labels(labels: Labels) -> str:
    escaped = (
        value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for _, value in sorted(labels.items())
    )
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(sorted(labels), escaped, strict=True)) + "}"


def _number(value: float) -> str:
    return repr(float(value))
