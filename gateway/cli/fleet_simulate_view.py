"""A simulated calendar on a terminal and as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, tzinfo
from itertools import groupby

from rich.table import Table

from gateway.cli.drill_when import clock, sent
from gateway.cli.fleet_plan_chart import MISSING, WANTED, Moment, Scale, chart
from gateway.cli.folding_table import folding_table
from gateway.cli.printable import printable
from gateway.domain.fleet_simulation import BellSeen, Sample, SimulatedWeek
from router.fleet.domain.pool_rules import PoolRules

MOST_BELLS = 60
CHART_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Told:
    """All that is shown of one run."""

    source: str
    rules: PoolRules
    week: SimulatedWeek
    gpus_per_replica: int
    price_per_gpu_hour: float | None

    @property
    def cost(self) -> float | None:
        price = self.price_per_gpu_hour
        if price is None:
            return None
        return self.week.cost(price_per_gpu_hour=price, gpus_per_replica=self.gpus_per_replica)

    @property
    def idle_gpu_h(self) -> float:
        return self.week.idle_h * self.gpus_per_replica

    def figures(self) -> Iterator[tuple[str, str]]:
        week, gpus = self.week, self.gpus_per_replica
        yield "bells met", f"{len(week.bells) - len(week.missed)} of {len(week.bells)}"
        yield "most replicas at once", f"{week.peak.held}, {clock(_moment(week.peak.at), UTC)}"
        yield "starts", f"{week.starts}, of which {week.failed_starts} failed"
        yield "controllers killed", str(week.kills)
        yield "GPU-hours", f"{week.held_h * gpus:.1f}, of which {self.idle_gpu_h:.1f} idle"
        if self.cost is not None:
            idle = self.idle_gpu_h * (self.price_per_gpu_hour or 0.0)
            yield "cost", f"{self.cost:.2f}, of which {idle:.2f} idle"
        yield "sessions on a replica that was stopped", str(week.hit)
        yield "trainees for whom no replica served", str(week.turned_away)
        yield "trainees on a replica whose seats were taken", str(week.crowded)


def lines(told: Told, width: int, zone: tzinfo | None = None) -> Iterator[str]:
    """The chart, and what it says in figures."""
    samples = told.week.samples
    yield f"replicas over time: {WANTED} there, {MISSING} needed beyond them, ▲ bells"
    yield from chart(
        [Moment(_moment(sample.at), needs=sample.used, wanted=sample.held) for sample in changes(samples)],
        Scale(_moment(samples[0].at), _moment(samples[-1].at), min(width - 6, CHART_WIDTH), zone),
        allowed=told.rules.maximum,
        bells=[_moment(bell.at) for bell in told.week.bells],
    )
    yield ""
    yield from (f"{name + ':':<46}{value}" for name, value in told.figures())


def bells_table(bells: Sequence[BellSeen], zone: tzinfo | None = None) -> Table:
    """All of them, or those that were missed where they are many."""
    shown = bells if len(bells) <= MOST_BELLS else [bell for bell in bells if not bell.is_met]
    table = folding_table("bell", "class", "ready", "")
    for bell in shown:
        ready = f"{bell.ready} of {bell.needed}"
        table.add_row(clock(_moment(bell.at), zone), printable(bell.name), ready, "" if bell.is_met else "MISSED")
    return table


def as_json(told: Told, notes: Iterable[str]) -> Mapping[str, object]:
    week = told.week
    return {
        "source": told.source,
        "notes": list(notes),
        "rules": asdict(told.rules),
        "bells": [asdict(bell) | {"at": sent(_moment(bell.at)), "is_met": bell.is_met} for bell in week.bells],
        "missed": len(week.missed),
        "starts": week.starts,
        "failed_starts": week.failed_starts,
        "kills": week.kills,
        "gpu_hours": week.held_h * told.gpus_per_replica,
        "idle_gpu_hours": told.idle_gpu_h,
        "cost": told.cost,
        "sessions_hit": week.hit,
        "turned_away": week.turned_away,
        "crowded": week.crowded,
        "replicas": [asdict(sample) | {"at": sent(_moment(sample.at))} for sample in changes(week.samples)],
    }


def changes(samples: Sequence[Sample]) -> Sequence[Sample]:
    """The first of each run of samples that say the same."""
    return [
        next(same)
        for _, same in groupby(samples, key=lambda sample: (sample.wanted, sample.held, sample.ready, sample.used))
    ]


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
