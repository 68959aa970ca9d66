"""Why runs may not be held against each other: another drill, another machine, or a run that says nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadtests.domain.drill import Drill, Shape
from loadtests.domain.targets import Targets
from loadtests.domain.verdict import Whole

_BY_THE_WINDOW = (Shape.LONG_PROMPT, Shape.KV, Shape.TRACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """Under which one run was played."""

    run: str
    drill: Drill
    machine: str
    """A digest of what the machine is; empty: it is not known."""
    fleet: tuple[str, ...] = ()
    """What the replicas are, such as their profiles."""
    targets: Targets
    whole: Whole | None
    incomplete: str | None = None


def unlike(before: Sequence[Circumstances], after: Sequence[Circumstances]) -> tuple[str, ...]:
    """What to know before the comparison is believed, in words; none: they are alike."""
    return (*_of_runs([*before, *after]), *_within(before), *_within(after), *_between(before[0], after[0]))


def _of_runs(runs: Sequence[Circumstances]) -> Iterator[str]:
    for each in runs:
        if each.whole is Whole.VOID:
            yield f"{each.run} is void: its times are the client's, not the servers'"
        if each.incomplete:
            yield f"{each.run} is incomplete: {each.incomplete}"


def _within(runs: Sequence[Circumstances]) -> Iterator[str]:
    """Runs that are pooled must be repetitions of each other."""
    for each in runs[1:]:
        yield from (f"pooled with {runs[0].run}, but {why}" for why in _between(runs[0], each))


def _between(one: Circumstances, other: Circumstances) -> Iterator[str]:
    if told := differences(one.drill, other.drill):
        yield f"{other.run} is another drill than {one.run}: {'; '.join(told)}"
    if not one.machine or not other.machine:
        yield f"of {other.run if one.machine else one.run} the machine is not known"
    elif one.machine != other.machine:
        yield f"{other.run} was played on another machine than {one.run}"
    if one.targets.limits != other.targets.limits:
        yield f"{other.run} calls other turns good than {one.run}"


def fleet_change(one: Circumstances, other: Circumstances) -> str | None:
    """That is no reason against a comparison, and often what it is about."""
    if one.fleet == other.fleet:
        return None
    return f"the fleet was {_named(one.fleet)}, and is {_named(other.fleet)}"


def differences(one: Drill, other: Drill) -> list[str]:
    """Which fields differ, each with both values. Most shapes ask the same whatever the window is."""
    told, others = _flat(one.as_json()), _flat(other.as_json())
    return [
        f"{name} {told[name]}, then {others[name]}"
        for name in told
        if told[name] != others[name] and (name != "window_tokens" or one.shape in _BY_THE_WINDOW)
    ]


def _flat(told: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in told.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def _named(fleet: Sequence[str]) -> str:
    return ", ".join(fleet) or "unknown"
