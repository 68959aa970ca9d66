"""How one replica is started: the options of vLLM that this service depends on, each by its type, and all others."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, assert_never

import yaml

from router.fleet.domain.vllm_flags import Flags, FlagValue

_NOTHING: Final[Flags] = MappingProxyType({})
_ONE_LINE: Final = 1_000_000
_SPECULATION: Final = ("spec-method", "spec-model", "spec-tokens")


class SchedulingPolicy(StrEnum):
    FCFS = "fcfs"
    PRIORITY = "priority"


@dataclass(frozen=True, slots=True)
class Ngram:
    """What the prompt holds already is guessed to come again."""

    tokens: int


@dataclass(frozen=True, slots=True)
class DraftModel:
    """A small model guesses, with the vocabulary of the large one."""

    model: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmOptions:
    """None: left to the engine. In the order in which they are written."""

    max_model_len: int | None = None
    """-1: the longest that fits."""
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    max_num_queued_reqs: int | None = None
    max_num_queued_tokens: int | None = None
    kv_cache_dtype: str | None = None
    enable_prefix_caching: bool | None = None
    enable_chunked_prefill: bool | None = None
    enable_prompt_tokens_details: bool | None = None
    scheduling_policy: SchedulingPolicy | None = None
    shutdown_timeout: int | None = None
    dtype: str | None = None
    block_size: int | None = None
    gpu_memory_utilization: float | None = None
    enforce_eager: bool | None = None
    quantization: str | None = None
    speculation: Ngram | DraftModel | None = None
    others: Flags = field(default_factory=lambda: _NOTHING)
    """What is none of these, by the flags' names."""


OWN: Final = tuple(
    name for name in VllmOptions.__dataclass_fields__ if name not in ("speculation", "others")
)  # in the order of the class


def flags_of(options: VllmOptions) -> dict[str, FlagValue]:
    told = ((_flag(name), getattr(options, name)) for name in OWN)
    own = {flag: str(value) if isinstance(value, StrEnum) else value for flag, value in told if value is not None}
    return {**own, **_speculation_flags(options.speculation), **options.others}


def options_of(flags: Flags) -> VllmOptions:
    """`flags` by their proper names and with values of the right types, as `read_flags` gives them."""
    own = {name: flags[_flag(name)] for name in OWN if flags.get(_flag(name)) is not None}
    if "scheduling_policy" in own:
        own["scheduling_policy"] = SchedulingPolicy(str(own["scheduling_policy"]))
    speculation = _speculation(flags)
    taken = {_flag(name) for name in own} | (set(_SPECULATION) if speculation is not None else set())
    others = {name: value for name, value in flags.items() if name not in taken}
    return VllmOptions(**own, speculation=speculation, others=others)  # type: ignore[arg-type]  # read_flags saw to it


def _flag(name: str) -> str:
    return name.replace("_", "-")


def _speculation_flags(speculation: Ngram | DraftModel | None) -> Flags:
    match speculation:
        case Ngram(tokens):
            return {"spec-method": "ngram", "spec-tokens": tokens}
        case DraftModel(model, tokens):
            return {"spec-method": "draft_model", "spec-model": model, "spec-tokens": tokens}
        case None:
            return {}
        case never:
            assert_never(never)


def _speculation(flags: Flags) -> Ngram | DraftModel | None:
    """None where it is another kind, or half of one: its flags are then among the others."""
    method, model, tokens = (flags.get(name) for name in _SPECULATION)
    if not isinstance(tokens, int):
        return None
    if method == "ngram" and model is None:
        return Ngram(tokens)
    if method == "draft_model" and isinstance(model, str):
        return DraftModel(model, tokens)
    return None


def yaml_lines(flags: Flags) -> str:
    """One flag a line, and a table below its name, as `vllm serve MODEL --config FILE` reads them."""
    plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in flags.items()}
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=_ONE_LINE)
