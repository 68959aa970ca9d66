"""How the starts of replicas go, where they are simulated."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdStarts:
    """How starts go. Raises `ValueError` where the figures contradict each other."""

    fastest_s: float = 60.0
    slowest_s: float = 180.0
    failure_rate: float = 0.1
    """The share of starts that come to nothing."""
    hang_share: float = 0.2
    """Of these: they never answer, and never end."""
    unfit_share: float = 0.2
    """Of these: they answer, and their canary is wrong."""
    warm_up_share: float = 0.15
    """How much of a start is the warm-up, which the controller does itself."""
    stop_s: float = 10.0

    def __post_init__(self) -> None:
        if not 0 < self.fastest_s <= self.slowest_s:
            raise ValueError("the slowest start takes as long as the fastest one at least")
        if not 0 <= self.failure_rate <= 1:
            raise ValueError("a rate of failures is from 0 to 1")
