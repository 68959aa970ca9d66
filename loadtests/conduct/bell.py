"""When the class begins, by the clock of the wall for others and by one that never jumps for ourselves."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self


@dataclass(frozen=True, slots=True)
class Bell:
    at: float
    """As `time.time` counts."""
    monotonic_s: float
    speed_up: float

    @classmethod
    def in_s(cls, real_s: float, *, speed_up: float) -> Self:
        return cls(time.time() + real_s, time.monotonic() + real_s, speed_up)

    def now_s(self) -> float:
        """Drill seconds since; below 0 before it."""
        return (time.monotonic() - self.monotonic_s) * self.speed_up

    @property
    def written(self) -> str:
        return datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds")
