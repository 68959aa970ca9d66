"""Whether a run kept its targets: each is met, missed by so much, or cannot be judged, and why."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any

from loadtests.domain.drill import Drill, Shape, Wire
from loadtests.domain.figures import RECORD, Figures, Spread
from loadtests.domain.json_values import json_object
from loadtests.domain.odds import at_least, at_most, trials_needed, upper_bound
from loadtests.domain.targets import DEFAULT, Targets

_P95 = 0.95
_SURELY = 0.05
"""Too few to be judged are missed all the same when so many beyond have less than this chance within the limit."""


class Standing(StrEnum):
    MET = "met"
    MISSED = "missed"
    NOT_JUDGED = "not judged"
    IDLE = "does not apply"
    """The drill has nothing of that kind."""


class Whole(StrEnum):
    PASSED = "passed"
    MISSED = "missed"
    VOID = "void"
    """The client spoiled the run: nothing it says of the servers' times can be believed."""
    UNPROVEN = "unproven"
    """Nothing was missed, but some of it could not be judged."""


EXIT_CODES = {Whole.PASSED: 0, Whole.MISSED: 1, Whole.VOID: 3, Whole.UNPROVEN: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One target, and what was measured."""

    target: str
    limit: float
    measured: float | None
    standing: Standing
    is_floor: bool = False
    """The measure must be at least the limit, not at most."""
    why: str = ""
    more: int = 0
    """So many more (turns, or what else is counted) would let it be judged, if they go as well as the others."""

    @property
    def missed_by(self) -> float | None:
        """How far beyond the limit; None unless missed."""
        if self.standing is not Standing.MISSED or self.measured is None:
            return None
        return abs(self.measured - self.limit)

    @property
    def missed_by_share(self) -> float | None:
        """The same, of the limit; None of a limit of 0."""
        return None if self.missed_by is None or not self.limit else self.missed_by / self.limit

    def as_json(self) -> dict[str, object]:
        return json_object({**asdict(self), "missed_by": self.missed_by, "missed_by_share": self.missed_by_share})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    whole: Whole
    judged: tuple[Judged, ...]
    void: tuple[str, ...] = ()
    """What spoiled it."""
    targets: Targets = DEFAULT
    """By which it was judged."""

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.whole]

    def of(self, standing: Standing) -> tuple[Judged, ...]:
        return tuple(each for each in self.judged if each.standing is standing)

    def as_json(self) -> dict[str, object]:
        return {
            "whole": self.whole.value,
            "exit_code": self.exit_code,
            "void": list(self.void),
            "judged": [each.as_json() for each in self.judged],
            "targets": self.targets.as_json(),
            "targets_digest": self.targets.digest,
        }


def verdict_of(told: Mapping[str, Any]) -> Verdict:
    """The verdict that `as_json` told; raises `ValueError` for anything else."""
    try:
        return Verdict(
            whole=Whole(told["whole"]),
            judged=tuple(_judged_of(each) for each in told["judged"]),
            void=tuple(str(each) for each in told["void"]),
            targets=Targets(**told["targets"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a verdict: {error}") from error


def _judged_of(told: Mapping[str, Any]) -> Judged:
    given = {each.name: told[each.name] for each in fields(Judged)}
    measured = given["measured"]
    return Judged(
        **{
            **given,
            "measured": None if measured is None else float(measured),
            "standing": Standing(given["standing"]),
        }
    )


def judge(
    figures: Figures,
    targets: Targets,
    *,
    drill: Drill | None = None,
    spoiled: Sequence[str] = (),
    is_whole: bool = True,
) -> Verdict:
    """`drill` tells what does not apply; `spoiled`: what else makes the run void, such as a worker whose rows are
    missing. A run that is not whole cannot pass: what did not happen any more might have missed."""
    idle = _idle(drill, figures) if drill is not None else frozenset()
    judged = tuple(
        replace(each, standing=Standing.IDLE, why="", more=0) if each.target in idle else each
        for each in _all(figures, targets)
    )
    void = tuple(dict.fromkeys((*spoiled, *_lag(figures, targets))))
    standings = {each.standing for each in judged}
    if void:
        whole = Whole.VOID
    elif Standing.MISSED in standings:
        whole = Whole.MISSED
    else:
        whole = Whole.PASSED if is_whole and Standing.NOT_JUDGED not in standings else Whole.UNPROVEN
    return Verdict(whole=whole, judged=judged, void=void, targets=targets)


def _idle(drill: Drill, figures: Figures) -> frozenset[str]:
    """A chat leaves no record, only a class begins at one bell, and not every drill asks what must be refused, or has
    sessions of more than one turn. Where all chats ran under one name nothing could move, or a balancer hides it."""
    names = set(RECORD) if drill.wire is Wire.CHAT else set()
    if drill.wire is Wire.CHAT and sum(1 for each in figures.by_replica if each.turns) == 1:
        names.add("affinity_broken")
    if drill.shape not in (Shape.CLASS, Shape.RECOVERY):
        names.add("bell_ttft_p95_s")
    if not drill.crowd.hostile and drill.shape is not Shape.LONG_PROMPT:
        names.add("let_in")
    if _has_first_turns_alone(drill, figures):
        names.update(DEFAULT.cold_shares)
    return frozenset(names)


def _has_first_turns_alone(drill: Drill, figures: Figures) -> bool:
    """By its plan: a class whose later turns all failed to come is another thing. A trace may have either."""
    are_planned = drill.shape in (Shape.LONG_PROMPT, Shape.TRACE) or drill.turns[1] == 1
    return are_planned and not figures.warm_turns and all(each.key == 1 for each in figures.by_turn)


def _lag(figures: Figures, targets: Targets) -> Iterator[str]:
    late, most = figures.client_lag.p99, targets.client_lag_p99_s
    if most is None or not figures.turns:
        return
    if late is None:
        yield "how late the client itself was is not known"
    elif late > most:
        yield (
            f"the client itself was late: p99 {late * 1000:.0f} ms, at most {most * 1000:g} ms; play again with more "
            "--workers, or while no other program has the processors"
        )


def _all(figures: Figures, targets: Targets) -> Iterator[Judged]:
    yield _weighed("turns", 1, figures.turns, is_floor=True, cause="not one was played, so nothing was proven")
    for name, limit, spread in (
        ("ttft_p95_s", targets.ttft_p95_s, figures.ttft),
        ("ttft_planned_p95_s", targets.ttft_planned_p95_s, figures.ttft_planned),
        ("bell_ttft_p95_s", targets.bell_ttft_p95_s, figures.bell_ttft),
        ("tpot_p95_s", targets.tpot_p95_s, figures.tpot),
        ("e2e_p95_s", targets.e2e_p95_s, figures.e2e),
    ):
        if limit is not None:
            yield _percentile(name, limit, spread, targets.beyond)
    yield from _shares(figures, targets)
    yield from _counts(figures, targets)


def _percentile(name: str, limit: float, spread: Spread, beyond: float) -> Judged:
    few = f"{spread.count} are too few for a p95" if spread.count else "nothing was measured"
    above = _at_least_above(spread, limit)
    return _weighed(
        name,
        limit,
        spread.p95,
        more=_short(spread.count, 1 - _P95, beyond),
        is_sure=at_least(above, spread.count, 1 - _P95) < _SURELY,
        why=few,
    )


def _at_least_above(spread: Spread, limit: float) -> int:
    """How many of the values must lie above the limit, by the percentiles that do."""
    known = ((0.5, spread.p50), (0.9, spread.p90), (_P95, spread.p95), (0.99, spread.p99))
    ranks = (max(1, math.ceil(round(share * spread.count, 6))) for share, value in known if _exceeds(value, limit))
    return max((spread.count - rank + 1 for rank in ranks), default=0)


def _exceeds(value: float | None, limit: float) -> bool:
    return value is not None and value > limit


def _shares(figures: Figures, targets: Targets) -> Iterator[Judged]:
    if (limit := targets.goodput_share) is not None:
        turns, good = figures.turns, figures.good_turns
        yield _weighed(
            "goodput_share",
            limit,
            figures.goodput_share,
            is_floor=True,
            more=_short(turns, 1 - limit, targets.beyond),
            is_sure=at_least(turns - good, turns, 1 - limit) < _SURELY,
            why=f"{turns} turns are too few",
        )
    if targets.failure_share is not None:
        yield _failures(figures, targets.failure_share, targets.confidence)
    for name, limit in targets.cold_shares.items():
        if limit is not None:
            cold = sum(
                count for reason, count in figures.cold.items() if name in ("cold_share", f"cold_{reason}_share")
            )
            yield _cold(name, limit, cold, known=figures.warm_turns, beyond=targets.beyond)


def _failures(figures: Figures, limit: float, confidence: float) -> Judged:
    """A share that small needs many turns before it is proven, and more of them for each failure."""
    failed, turns, measured = figures.failed, figures.turns, figures.failure_share
    if _exceeds(measured, limit):
        return _weighed("failure_share", limit, measured, cause=_kinds(figures.failures))
    is_proven = not limit or at_most(failed, turns, limit) <= 1 - confidence
    return _weighed(
        "failure_share",
        limit,
        measured,
        more=0 if is_proven else trials_needed(failed, limit, confidence) - turns,
        why=f"{failed} of {turns}: the true share may be up to {upper_bound(failed, turns, confidence):.2%}",
    )


def _kinds(failures: Mapping[str, int]) -> str:
    ranked = sorted(failures.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{count} {kind}" for kind, count in ranked)


def _cold(name: str, limit: float, cold: int, *, known: int, beyond: float) -> Judged:
    return _weighed(
        name,
        limit,
        cold / known if known else None,
        more=_short(known, limit, beyond),
        is_sure=at_least(cold, known, limit) < _SURELY,
        why=f"{known} second and later turns that tell cached tokens are too few"
        if known
        else "no second or later turn told its cached tokens",
    )


def _counts(figures: Figures, targets: Targets) -> Iterator[Judged]:
    for name, limit, count in (
        ("affinity_broken", targets.affinity_broken, figures.affinity_broken),
        ("lost_turns", targets.lost_turns, figures.lost_turns),
        ("doubled_turns", targets.doubled_turns, figures.doubled_turns),
        ("altered_turns", targets.altered_turns, figures.altered_turns),
        ("false_blocks", targets.false_blocks, figures.false_blocks),
        ("let_in", targets.let_in, figures.let_in),
    ):
        if limit is not None:
            unknown = figures.untold(name)
            unread = max(0, figures.sessions - figures.audited) if name in RECORD and not unknown else 0
            why = unknown or f"{unread} of {figures.sessions} records were not read"
            yield _weighed(name, limit, None if unknown else count, more=unread, is_sure=True, why=why)


def _short(count: int, share: float, beyond: float) -> int:
    """How many are missing until `beyond` of them would lie in this share; a share of nothing waits for none."""
    return max(0, math.ceil(round(beyond / share, 6)) - count) if share else 0


def _weighed(  # noqa: PLR0913 - one fact each
    target: str,
    limit: float,
    measured: float | None,
    *,
    is_floor: bool = False,
    more: int = 0,
    is_sure: bool = False,
    why: str = "",
    cause: str = "",
) -> Judged:
    """`more` are missing before it can be judged, unless it is surely missed already. `why` it is not judged, or the
    `cause` of its being missed, is told with it."""
    is_beyond = measured is not None and (measured < limit if is_floor else measured > limit)
    if is_beyond and (is_sure or not more):
        standing = Standing.MISSED
    else:
        standing = Standing.NOT_JUDGED if more or measured is None else Standing.MET
    return Judged(
        target=target,
        limit=limit,
        measured=measured,
        standing=standing,
        is_floor=is_floor,
        why={Standing.NOT_JUDGED: why, Standing.MISSED: cause}.get(standing, ""),
        more=more if standing is Standing.NOT_JUDGED else 0,
    )
