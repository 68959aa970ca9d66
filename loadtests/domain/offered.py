"""What load a timetable offers, in a few figures; known before anybody is asked."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from loadtests.domain.drill import Drill, Shape
from loadtests.domain.part import Act, Part
from loadtests.domain.timetable import last_planned_s

_PEAK_SPAN_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    trainees: int
    sessions: int
    turns: int
    """Messages; misdeeds of hostile trainees are none."""
    last_s: float
    """When the last message is planned."""
    length_s: float
    """Until nothing more is expected of a system that answers within the allowance."""
    mean_per_s: float
    peak_per_s: float
    """Over the busiest ten seconds."""
    peak_at_s: float


def offered(drill: Drill, parts: Sequence[Part]) -> Offered:
    starts = sorted(
        ask.at_s for part in parts for visit in part.visits for ask in visit.asks if ask.act is not Act.HOSTILE
    )
    last_s = last_planned_s(parts)
    stays = drill.stair_s * (len(drill.stairs) if drill.shape is Shape.STAIRCASE else 1)
    length_s = max(last_s + drill.allowance_s, stays if drill.shape in {Shape.STAIRCASE, Shape.SOAK} else 0.0)
    most, at_s = _busiest(starts)
    return Offered(
        trainees=len(parts),
        sessions=sum(len(part.visits) for part in parts),
        turns=len(starts),
        last_s=last_s,
        length_s=length_s,
        mean_per_s=len(starts) / length_s if length_s > 0 else 0.0,
        peak_per_s=most / _PEAK_SPAN_S,
        peak_at_s=at_s,
    )


def _busiest(starts: Sequence[float]) -> tuple[int, float]:
    """How many begin within the span from one of them that holds the most, and when that one is."""
    counts = ((bisect_right(starts, start + _PEAK_SPAN_S) - at, -start) for at, start in enumerate(starts))
    most, start = max(counts, default=(0, 0.0))
    return most, 0.0 - start
