"""Everything that a report tells of one run, and what follows from it: its price, and what happened when."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loadtests.domain.figures import Figures
from loadtests.domain.reason import Reason, Seen
from loadtests.domain.server import EventKind, LagSample
from loadtests.domain.verdict import Verdict
from loadtests.report.frame import Mark
from loadtests.report.lines import Point
from loadtests.report.scale import Axis

_HOUR_S = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    name: str
    """Of the run's folder."""
    seen: Seen
    lag: Sequence[LagSample]
    verdict: Verdict
    reasons: tuple[Reason, ...] = ()
    """For all that went wrong."""
    explaining: tuple[Reason, ...] = ()
    """Of those, what can explain the targets that were missed."""
    facts: Mapping[str, object] = field(default_factory=dict)
    price_per_hour: float | None = None
    """Of one replica."""
    incomplete: str | None = None
    """Why it ended before its time."""

    @property
    def figures(self) -> Figures:
        return self.seen.figures

    @property
    def look_s(self) -> float:
        """The servers are looked at each real second."""
        return self.seen.drill.speed_up

    @property
    def time(self) -> Axis:
        """The same for all charts, so that they can be read one below the other: from the lobby to the end."""
        ends = [0.0, *(float(each.key) for each in self.figures.over_time), *(each.at_s for each in self.seen.events)]
        return Axis(label="since the bell", unit="s", is_clock=True, low=-self.seen.drill.lobby_s, high=max(ends))

    def within(self, points: Iterable[Point]) -> list[Point]:
        """Those that the time of the charts covers."""
        low, high = self.time.low or 0.0, self.time.high or 0.0
        return [point for point in points if low <= point[0] <= high]

    @property
    def is_simulated(self) -> bool:
        replicas = self.facts.get("replicas")
        return isinstance(replicas, list) and any(isinstance(each, dict) and each.get("profile") for each in replicas)

    @property
    def replica_seconds_per_drill(self) -> float | None:
        """Of a session that took every turn of its timetable."""
        if self.figures.replica_seconds is None or not self.figures.completed:
            return None
        return self.figures.replica_seconds / self.figures.completed

    @property
    def cost_per_drill(self) -> float | None:
        seconds = self.replica_seconds_per_drill
        return None if seconds is None or self.price_per_hour is None else seconds / _HOUR_S * self.price_per_hour

    def marks(self) -> list[Mark]:
        """The bell, the steps, and each fault until what was broken answered again, or to the end."""
        happened = [_mark(each.kind, each.at_s, each.note) for each in self.seen.events if each.kind in _MOMENTS]
        end = self.time.high
        faults = [
            Mark(at=each.event.at_s, until=end if each.mended_s is None else each.mended_s, label=each.name)
            for each in self.seen.troubles
        ]
        return [*happened, *faults]


_MOMENTS = (EventKind.BELL, EventKind.STEP, EventKind.DEED)


def _mark(kind: EventKind, at_s: float, note: str) -> Mark:
    match kind:
        case EventKind.BELL:
            return Mark(at=at_s, label="bell")
        case EventKind.STEP:
            return Mark(at=at_s, label=f"{note} trainees")
        case _:
            return Mark(at=at_s, label=note)
