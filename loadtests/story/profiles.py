"""The cards of the story, from `before` to `after` as they are shipped: each step changes its own figures alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from loadtests.simulator.domain.profile import Profile, Source, SourceKind

BEFORE, AFTER = "48gb-14b-before", "48gb-14b-after"

_AS_AFTER = {
    "bounded": (
        "memory.activation_reserve_bytes",
        "limits.window_tokens",
        "limits.max_sequences",
        "limits.max_batched_tokens",
    ),
    "int8": ("prefill.per_token_ms", "memory.weights_bytes", "memory.kv_bytes_per_token", "start_up.load_s"),
}
_INT8_DECODE = {
    "decode.weights_ms": (17.1, "14.8 GB of weights read at 864 GB/s: what 8 bits give without speculation."),
    "decode.per_sequence_ms": (0.2, "Half of before: half the bytes of KV, one token in a step."),
}


def bounded(before: Profile, after: Profile) -> Profile:
    """`before` with a window of 4,096 and steps of 2,048 tokens, which need a smaller reserve: the pool grows by it."""
    named = replace(
        before,
        name="48gb-14b-bounded",
        provenance=f"{BEFORE} with the window and the step of {AFTER}; derived, nothing measured.",
    )
    return _with(named, {figure: _taken(after, figure) for figure in _AS_AFTER["bounded"]})


def int8(before: Profile, after: Profile) -> Profile:
    """`bounded` with weights and KV in 8 bits, one token in a step as before."""
    named = replace(
        bounded(before, after),
        name="48gb-14b-int8",
        provenance=f"{AFTER} without speculation: a step reads all weights for one token; derived, nothing measured.",
    )
    figures = {figure: _taken(after, figure) for figure in _AS_AFTER["int8"]}
    for figure, (value, why) in _INT8_DECODE.items():
        figures[figure] = value, Source(figure, SourceKind.DERIVED, why)
    return _with(named, figures)


def figure_of(profile: Profile, figure: str) -> float:
    """One figure by its path, such as `decode.weights_ms`."""
    section, name = figure.split(".")
    value: float = getattr(getattr(profile, section), name)
    return value


def _taken(profile: Profile, figure: str) -> tuple[float, Source]:
    source = next(each for each in profile.sources if each.figure == figure)
    return figure_of(profile, figure), source


def _with(profile: Profile, figures: Mapping[str, tuple[float, Source]]) -> Profile:
    sections: dict[str, Any] = {}
    for figure, (value, _) in figures.items():
        section, name = figure.split(".")
        sections[section] = replace(sections.get(section, getattr(profile, section)), **{name: value})
    kept = tuple(each for each in profile.sources if each.figure not in figures)
    return replace(profile, **sections, sources=(*kept, *(source for _, source in figures.values())))
