"""What a simulated calendar showed: replicas over time, readiness at each bell, what stood idle and what it costs."""

from dataclasses import dataclass

HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Sample:
    """A pool at one moment."""

    at: float
    wanted: int
    """As the controller last said."""
    held: int
    """Replicas that have a place of the pool, whether they serve or not."""
    ready: int
    used: int
    """Replicas that the seats promised, and the sessions past their end, take."""


@dataclass(frozen=True, slots=True)
class BellSeen:
    name: str
    at: float
    ready: int
    needed: int

    @property
    def is_met(self) -> bool:
        return self.ready >= self.needed


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedWeek:
    """All of one run."""

    tick_s: float
    samples: tuple[Sample, ...]
    bells: tuple[BellSeen, ...]
    starts: int
    failed_starts: int
    kills: int
    hit: int
    """Sessions on a replica that was stopped under them."""
    turned_away: int
    """Trainees for whom no replica served."""
    crowded: int
    """Trainees who came, or were moved, to a replica whose seats were taken."""

    @property
    def missed(self) -> tuple[BellSeen, ...]:
        return tuple(bell for bell in self.bells if not bell.is_met)

    @property
    def held_h(self) -> float:
        return sum(sample.held for sample in self.samples) * self.tick_s / HOUR_S

    @property
    def used_h(self) -> float:
        return sum(sample.used for sample in self.samples) * self.tick_s / HOUR_S

    @property
    def idle_h(self) -> float:
        return self.held_h - self.used_h

    @property
    def peak(self) -> Sample:
        return max(self.samples, key=lambda sample: sample.held)

    def cost(self, *, price_per_gpu_hour: float, gpus_per_replica: int) -> float:
        return self.held_h * gpus_per_replica * price_per_gpu_hour
