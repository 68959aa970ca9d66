"""The turns of a run by time, by their number, by concurrency, and by replica."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from loadtests.domain import spread
from loadtests.domain.drill import Drill, Shape
from loadtests.domain.figures import Slice
from loadtests.domain.fleet_use import FleetUse
from loadtests.domain.knee import Level, knee_of
from loadtests.domain.presence import Presence
from loadtests.domain.rows import Row

_SPANS = 60
_LEVELS = 12
_FINEST = 0.1
LEAST_TURNS = 20
"""Fewer turns say nothing of a 95th percentile, and so nothing of a knee."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Scene:
    """What there is to slice: turns in the order of their start, and what was around them."""

    turns: Sequence[Row]
    presence: Presence
    fleet: FleetUse


def over_time(scene: Scene) -> tuple[Slice, ...]:
    """About sixty spans of equal length by the start of the turns, also those in which none started."""
    if not scene.turns:
        return ()
    first, last = scene.turns[0].started_s, scene.turns[-1].started_s
    width = _round_step((last - first) / _SPANS)
    spans = _grouped(scene.turns, lambda turn: math.floor(turn.started_s / width))
    found = []
    for number in range(min(spans), max(spans) + 1):
        begins, ends = number * width, (number + 1) * width
        found.append(
            _slice(
                begins,
                spans.get(number, []),
                within_s=width,
                sessions=scene.presence.within(begins, ends),
                kv_usage=scene.fleet.kv_usage_most(from_s=begins, to_s=ends),
                preemptions=scene.fleet.preemptions(from_s=begins, to_s=ends),
            )
        )
    return tuple(found)


def by_turn(scene: Scene) -> tuple[Slice, ...]:
    groups = _grouped([turn for turn in scene.turns if turn.turn is not None], lambda turn: turn.turn or 0)
    return tuple(_slice(number, turns) for number, turns in sorted(groups.items()))


def by_replica(scene: Scene) -> tuple[Slice, ...]:
    """Also replicas that were there and had no turn; without turns of which it is not known where they ran."""
    groups = _grouped([turn for turn in scene.turns if turn.replica is not None], lambda turn: turn.replica or "")
    found = []
    for replica in sorted({*groups, *scene.fleet.replicas}):
        turns, fleet = groups.get(replica, []), scene.fleet.of(replica)
        found.append(
            _slice(
                replica,
                turns,
                sessions=len({(turn.trainee, turn.session) for turn in turns}),
                kv_usage=fleet.kv_usage_most(),
                preemptions=fleet.preemptions(),
            )
        )
    return tuple(found)


def by_concurrency(scene: Scene, *, drill: Drill) -> tuple[Slice, ...]:
    """By the stair, or else by the sessions open when a turn began, at most twelve levels of equal width."""
    if not scene.turns:
        return ()
    return _by_stair(scene, drill) if drill.shape is Shape.STAIRCASE else _by_level(scene)


def knee(levels: Sequence[Slice]) -> float | None:
    told = [
        Level(float(level.key), level.turns_per_s, level.ttft.p95)
        for level in levels
        if level.turns >= LEAST_TURNS and level.turns_per_s is not None and level.ttft.p95 is not None
    ]
    return knee_of(told)


def _by_stair(scene: Scene, drill: Drill) -> tuple[Slice, ...]:
    """Without the first quarter of each stair, in which its newcomers come."""
    last = len(drill.stairs) - 1
    stairs = _grouped(scene.turns, lambda turn: min(max(0, math.floor(turn.started_s / drill.stair_s)), last))
    found = []
    for stair, trainees in enumerate(drill.stairs):
        settles = (stair + 0.25) * drill.stair_s
        settled = [turn for turn in stairs.get(stair, []) if turn.started_s >= settles]
        ends = max((stair + 1) * drill.stair_s, max((turn.started_s for turn in settled), default=0.0))
        found.append(_slice(trainees, settled, within_s=ends - settles, sessions=trainees))
    return tuple(found)


def _by_level(scene: Scene) -> tuple[Slice, ...]:
    most = scene.presence.most
    width = max(1, math.ceil(_round_step(most / _LEVELS)))

    def level_of(sessions: int) -> int:
        return min(most, -(-sessions // width) * width)

    seconds: dict[int, float] = {}
    for sessions, lasted_s in scene.presence.seconds_at().items():
        seconds[level_of(sessions)] = seconds.get(level_of(sessions), 0.0) + lasted_s
    groups = _grouped(scene.turns, lambda turn: level_of(scene.presence.at(turn.started_s)))
    return tuple(
        _slice(level, turns, within_s=seconds.get(level, 0.0), sessions=level)
        for level, turns in sorted(groups.items())
    )


def _slice(
    key: float | str,
    turns: Sequence[Row],
    *,
    within_s: float | None = None,
    sessions: int | None = None,
    kv_usage: float | None = None,
    preemptions: int | None = None,
) -> Slice:
    failed = sum(1 for turn in turns if turn.failure is not None)
    told = [turn for turn in turns if turn.cached_tokens is not None]
    prompts = sum(turn.prompt_tokens for turn in told)
    return Slice(
        key=key,
        turns=len(turns),
        failed=failed,
        ttft=spread.of("ttft", turns),
        e2e=spread.of("e2e", turns),
        tpot=spread.of("tpot", turns),
        turns_per_s=(len(turns) - failed) / within_s if within_s else None,
        cached_share=sum(turn.cached_tokens or 0 for turn in told) / prompts if prompts else None,
        sessions=sessions,
        kv_usage=kv_usage,
        preemptions=preemptions,
    )


def _grouped(turns: Sequence[Row], key: Callable[[Row], Key]) -> Mapping[Key, list[Row]]:
    groups: dict[Key, list[Row]] = {}
    for turn in turns:
        groups.setdefault(key(turn), []).append(turn)
    return groups


def _round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is no less; a tenth of a second at least."""
    if least <= _FINEST:
        return _FINEST
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))
