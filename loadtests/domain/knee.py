"""Where more trainees stop bringing more turns: the knee of a staircase.

The rule is Kleinrock's power (1979), throughput divided by the time it is paid with: it grows as long as a trainee more
brings more than it costs the others, and falls once the time to the first text grows faster than the throughput. Where
service takes always equally long that is the point of saturation, throughput times (service + think); with chance in it
the knee comes earlier, at half of that for a single exponential server.
"""

from collections.abc import Sequence
from dataclasses import dataclass

_AS_GOOD = 0.9
"""A level within a tenth of the greatest power has it: measured levels are not smooth."""
_GROWS = 1.05


@dataclass(frozen=True, slots=True)
class Level:
    trainees: float
    turns_per_s: float
    ttft_p95_s: float

    @property
    def power(self) -> float:
        """Nothing where a twentieth of the turns never had a first text."""
        return self.turns_per_s / max(self.ttft_p95_s, 1e-6)


def knee_of(levels: Sequence[Level]) -> float | None:
    """The trainees of the lowest level with the greatest power; None while throughput still grows at the highest."""
    ordered = sorted(levels, key=lambda level: level.trainees)
    most = max((level.power for level in ordered), default=0.0)
    if most == 0.0:
        return None
    knee = next(level for level in ordered if level.power >= _AS_GOOD * most)
    last = ordered[-1]
    is_growing = last.power == most and last.turns_per_s >= _GROWS * knee.turns_per_s
    return None if last is knee or is_growing else knee.trainees
