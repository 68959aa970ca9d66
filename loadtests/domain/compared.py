"""What comes of holding one metric of some runs against that of others."""

import math
from dataclasses import asdict, dataclass
from enum import StrEnum

from loadtests.domain.json_values import json_object


class Finding(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    NOISE = "within noise"
    UNKNOWN = "not judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How strictly: the confidence of every interval, and the share below which a change does not matter."""

    level: float = 0.95
    matters: float = 0.0
    draws: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One metric. The interval is that of `after - before`; None where there is none."""

    name: str
    before: float | None
    after: float | None
    finding: Finding
    low: float | None = None
    high: float | None = None
    more_is_better: bool = False
    why: str = ""

    @property
    def share(self) -> float | None:
        """By which share of `before` it changed."""
        return None if self.before is None or self.after is None else self.as_share(self.after - self.before)

    def as_share(self, difference: float | None) -> float | None:
        if difference is None or not self.before or math.isinf(self.before):
            return None
        return difference / self.before

    def as_json(self) -> dict[str, object]:
        return json_object({**asdict(self), "share": self.share})


def judged(
    name: str,
    values: tuple[float, float],
    interval: tuple[float, float],
    *,
    judging: Judging,
    more_is_better: bool = False,
) -> Compared:
    """It changed when the interval of the difference leaves out 0, and the change is large enough to matter."""
    before, after = values
    low, high = interval
    finding, why = Finding.NOISE, ""
    if low > 0 or high < 0:
        if math.isfinite(before) and abs(after - before) < judging.matters * abs(before):
            why = f"less than {judging.matters:.0%} of it"
        else:
            finding = Finding.BETTER if (low > 0) == more_is_better else Finding.WORSE
    return Compared(
        name=name,
        before=before,
        after=after,
        finding=finding,
        low=low,
        high=high,
        more_is_better=more_is_better,
        why=why,
    )
