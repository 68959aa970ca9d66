"""What is to be certified, and where."""

from dataclasses import dataclass, field
from pathlib import Path

from loadtests.domain.drill import Drill
from loadtests.target import Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    drill: Drill
    """The class, without faults; its `speed_up` is asked of the fleet."""
    asked: Asked
    ttft_s: float = 1.5
    faults: tuple[str, ...] | None = None
    """None: the usual ones, as far as the fleet allows."""
    find_seats: bool = False
    price_per_hour: float | None = None
    workers: int = 1
    fleet: str = ""
    """How the stack that was started for it is called; empty for one that runs already."""
    runs: Path = field(default=Path(".drillyard/loads"))
