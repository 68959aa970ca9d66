"""Which targets a timetable could not prove even if all of it went well, for want of turns."""

from collections.abc import Sequence

from loadtests.domain.drill import Drill
from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.domain.part import Act, Part
from loadtests.domain.targets import Targets
from loadtests.domain.verdict import Judged, judge

_NO_TURNS = frozenset({Act.HOSTILE, Act.TOO_LONG})


def unprovable(drill: Drill, parts: Sequence[Part], targets: Targets) -> tuple[Judged, ...]:
    """Those that lack most first, each with how many more it needs."""
    verdict = judge(_flawless(parts), targets, drill=drill)
    return tuple(sorted((each for each in verdict.judged if each.more), key=lambda each: -each.more))


def _flawless(parts: Sequence[Part]) -> Figures:
    asked = [sum(1 for ask in visit.asks if ask.act not in _NO_TURNS) for part in parts for visit in part.visits]
    turns, sessions = sum(asked), sum(1 for count in asked if count)
    all_at_once = _at_once(turns)
    return Figures(
        turns=turns,
        good_turns=turns,
        sessions=sessions,
        audited=sessions,
        warm_turns=turns - sessions,
        ttft=all_at_once,
        ttft_planned=all_at_once,
        bell_ttft=_at_once(sessions),
        e2e=all_at_once,
        tpot=all_at_once,
        by_turn=tuple(_turn(number) for number in range(1, max(asked, default=0) + 1)),
    )


def _at_once(count: int) -> Spread:
    return Spread(count=count, mean=0.0, p50=0.0, p90=0.0, p95=0.0, p99=0.0, worst=0.0)


def _turn(number: int) -> Slice:
    return Slice(key=number, turns=1, failed=0, ttft=Spread(), e2e=Spread(), tpot=Spread())
