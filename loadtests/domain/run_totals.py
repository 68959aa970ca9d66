"""What a run has but one number of: counts are held against each other by exact odds, other totals by their spread
over several runs."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, variance

from loadtests.domain.compared import Compared, Finding, Judging, judged
from loadtests.domain.measured import RunSeen
from loadtests.domain.odds import fisher
from loadtests.domain.student import quantile

_MUST_NOT_BE = ("affinity_broken", "lost_turns", "doubled_turns", "altered_turns", "false_blocks", "let_in")
_TOTALS = (("goodput_per_s", True), ("output_tokens_per_s", True), ("preemptions", False), ("replica_seconds", False))
"""Each with whether more of it is better."""

Count = tuple[int, int]
"""Events, and among how many."""


def failures(
    before: Sequence[RunSeen], after: Sequence[RunSeen], units: tuple[Count, Count], judging: Judging
) -> Compared:
    """By the units (sessions) in which a turn failed, since one lost session may fail many turns."""
    events = total(before, "failed"), total(after, "failed")
    (hit, of), (hit_after, of_after) = units
    why = f"in {hit} of {of}, then in {hit_after} of {of_after}" if any(events) else ""
    return _counted("failed_turns", events, units, is_sure=fisher(*units) < 1 - judging.level, why=why)


def mistakes(before: Sequence[RunSeen], after: Sequence[RunSeen], judging: Judging) -> Iterator[Compared]:
    """Of what must not be at all the first one is worse: chance is no excuse for it. That it did not come again may be
    luck."""
    turns = total(before, "turns"), total(after, "turns")
    for name in _MUST_NOT_BE:
        events = total(before, name), total(after, name)
        untold = [next(filter(None, (run.figures.untold(name) for run in runs)), "") for runs in (before, after)]
        if any(untold):
            yield _unknown(name, events, untold)
            continue
        one, other = ((count, max(count, of)) for count, of in zip(events, turns, strict=True))
        is_sure = not events[0] or fisher(one, other) < 1 - judging.level
        yield _counted(name, events, (one, other), is_sure=is_sure)


def totals(before: Sequence[RunSeen], after: Sequence[RunSeen], judging: Judging) -> Iterator[Compared]:
    """Left out where a run does not tell it."""
    for name, more_is_better in _TOTALS:
        sides = [[getattr(run.figures, name) for run in runs] for runs in (before, after)]
        if all(value is not None for each in sides for value in each):
            yield _of_whole_runs(name, sides[0], sides[1], judging, more_is_better=more_is_better)


def total(runs: Sequence[RunSeen], name: str) -> int:
    return sum(int(getattr(run.figures, name)) for run in runs)


def _unknown(name: str, events: tuple[int, int], untold: Sequence[str]) -> Compared:
    """A side that says nothing must not look as if nothing had happened in it."""
    one, other = (None if why else float(count) for count, why in zip(events, untold, strict=True))
    return Compared(name=name, before=one, after=other, finding=Finding.UNKNOWN, why=next(filter(None, untold)))


def _counted(
    name: str, events: tuple[int, int], among: tuple[Count, Count], *, is_sure: bool, why: str = ""
) -> Compared:
    shares = [count / of if of else 0.0 for count, of in among]
    finding = Finding.NOISE
    if is_sure and shares[0] != shares[1]:
        finding = Finding.WORSE if shares[1] > shares[0] else Finding.BETTER
    return Compared(name=name, before=float(events[0]), after=float(events[1]), finding=finding, why=why)


def _of_whole_runs(
    name: str, before: Sequence[float], after: Sequence[float], judging: Judging, *, more_is_better: bool
) -> Compared:
    means = fmean(before), fmean(after)
    if len(before) < 2 or len(after) < 2:  # noqa: PLR2004 - a single value has no spread
        return Compared(
            name=name,
            before=means[0],
            after=means[1],
            finding=Finding.UNKNOWN,
            more_is_better=more_is_better,
            why="one number of a whole run: two runs of each side would tell how it varies",
        )
    error = math.sqrt(variance(before) / len(before) + variance(after) / len(after))
    half = quantile(len(before) + len(after) - 2, judging.level) * error
    change = means[1] - means[0]
    return judged(name, means, (change - half, change + half), judging=judging, more_is_better=more_is_better)
