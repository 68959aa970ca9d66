"""What a run is held to, and the text that says so: every target, its default, and what may be written for it."""

import json
import math
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from hashlib import sha256
from typing import Any

import yaml

from loadtests.domain.limits import Limits

Rule = Callable[[float], str | None]
"""What is wrong with a number, in words; None: nothing."""


class UnusableTargets(ValueError):
    """A text that is no targets file; `complaints` are all of them, each with its line."""

    def __init__(self, complaints: tuple[str, ...]) -> None:
        super().__init__("; ".join(complaints))
        self.complaints = complaints


def _seconds(value: float) -> str | None:
    return None if value > 0 else "must be above 0"


def _share(value: float) -> str | None:
    return None if 0 <= value <= 1 else "must be from 0 to 1"


def _count(value: float) -> str | None:
    return None if value >= 0 and value == int(value) else "must be a whole number from 0"


def _samples(value: float) -> str | None:
    return None if value >= 1 and value == int(value) else "must be a whole number from 1"


def _confidence(value: float) -> str | None:
    return None if 0.5 <= value < 1 else "must be from 0.5 and below 1"  # noqa: PLR2004 - below it one would bet


def _held(default: float | None, rule: Rule, *, setting: bool = False) -> Any:
    return field(default=default, metadata={"rule": rule, "setting": setting})


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """None: not held to it. What each means stands in `loadtests/targets/class.yaml`."""

    ttft_p95_s: float | None = _held(1.5, _seconds)
    ttft_planned_p95_s: float | None = _held(1.5, _seconds)
    bell_ttft_p95_s: float | None = _held(1.5, _seconds)
    tpot_p95_s: float | None = _held(None, _seconds)
    e2e_p95_s: float | None = _held(8.0, _seconds)
    goodput_share: float | None = _held(0.95, _share)
    failure_share: float | None = _held(0.001, _share)
    cold_share: float | None = _held(0.05, _share)
    cold_moved_share: float | None = _held(None, _share)
    cold_folded_share: float | None = _held(None, _share)
    cold_evicted_share: float | None = _held(None, _share)
    cold_lost_share: float | None = _held(None, _share)
    affinity_broken: float | None = _held(0.0, _count)
    lost_turns: float | None = _held(0.0, _count)
    doubled_turns: float | None = _held(0.0, _count)
    altered_turns: float | None = _held(0.0, _count)
    false_blocks: float | None = _held(0.0, _count)
    let_in: float | None = _held(0.0, _count)
    good_ttft_s: float | None = _held(1.5, _seconds, setting=True)
    """With the next two: within these a turn is good, and counts in goodput."""
    good_tpot_s: float | None = _held(None, _seconds, setting=True)
    good_e2e_s: float | None = _held(8.0, _seconds, setting=True)
    client_lag_p99_s: float | None = _held(0.05, _seconds, setting=True)
    """In real seconds. A client that was later than this spoiled the run."""
    beyond: float = _held(5.0, _samples, setting=True)
    """So many turns must lie beyond a percentile or a share before it is judged."""
    confidence: float = _held(0.95, _confidence, setting=True)
    """Of the one-sided bound on the share of failures."""

    @property
    def digest(self) -> str:
        """Equal for equal targets; 16 hex digits."""
        return sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    @property
    def cold_shares(self) -> dict[str, float | None]:
        """That of all cold turns, and by reason."""
        return {name: limit for name, limit in self.as_json().items() if name.startswith("cold_")}

    @property
    def limits(self) -> Limits:
        return Limits(ttft_s=self.good_ttft_s, tpot_s=self.good_tpot_s, e2e_s=self.good_e2e_s)

    def as_json(self) -> dict[str, float | None]:
        return asdict(self)


DEFAULT = Targets()
_FIELDS = {each.name: each for each in fields(Targets)}
_ALWAYS = ("beyond", "confidence")
"""Settings without which nothing can be judged."""


def read_targets(text: str) -> Targets:
    """What the text does not name stays as in `DEFAULT`; `null` lets a target go. Raises `UnusableTargets`."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UnusableTargets((f"line {mark.line + 1 if mark else 1}: not YAML: {error.problem}",)) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise UnusableTargets((f"not YAML: {error}",)) from error
    if node is None:
        raise UnusableTargets(("names no target; `drillyard load targets` prints a file to start from",))
    return targets_at(node)


def targets_at(node: yaml.Node) -> Targets:
    """The targets written at a place of a larger file; raises `UnusableTargets` with that file's lines."""
    if not isinstance(node, yaml.MappingNode):
        raise UnusableTargets((f"line {_line(node)}: expected lines such as `ttft_p95_s: 1.5`",))
    complaints: list[str] = []
    told: dict[str, float | None] = {}
    seen: set[str] = set()
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        try:
            told[name] = _told(name, value, taken=seen)
        except _Wrong as wrong:
            complaints.append(f"line {_line(key)}: {name}: {wrong}")
        seen.add(name)
    held = [name for name, each in _FIELDS.items() if not each.metadata["setting"]]
    if not complaints and all(told.get(name, getattr(DEFAULT, name)) is None for name in held):
        complaints.append("every target is let go, so nothing could be missed")
    if complaints:
        raise UnusableTargets(tuple(complaints))
    return replace(DEFAULT, **told)  # type: ignore[arg-type]  # None is refused where it may not be


class _Wrong(ValueError):
    """What is wrong with one line."""


def _told(name: str, value: yaml.Node, *, taken: Collection[str]) -> float | None:
    if name in taken:
        raise _Wrong("stands here a second time")
    if name not in _FIELDS:
        near = get_close_matches(name, _FIELDS, n=1)
        raise _Wrong("no such target" + (f"; is {near[0]} meant?" if near else ""))
    number = _number(value)
    if number is None and name in _ALWAYS:
        raise _Wrong("cannot be let go")
    if number is not None and (wrong := _FIELDS[name].metadata["rule"](number)):
        raise _Wrong(wrong)
    return number


def _number(value: yaml.Node) -> float | None:
    if not isinstance(value, yaml.ScalarNode) or value.style is not None:
        raise _Wrong("must be a number, or null to let it go")
    if value.tag == "tag:yaml.org,2002:null":
        return None
    try:
        number = float(value.value)
    except ValueError:
        raise _Wrong(f"must be a number, or null to let it go, not {value.value[:40]!r}") from None
    if not math.isfinite(number):
        raise _Wrong("must be a finite number")
    return number


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
