"""What one look at one replica has shown."""

from dataclasses import dataclass

from router.domain.engine_metrics import EngineMetrics
from router.domain.health import Observation


@dataclass(frozen=True, slots=True)
class Sighting:
    """It answered, or plainly did not. `detail` says why a bad observation is bad."""

    observation: Observation
    detail: str = ""
    models: frozenset[str] = frozenset()
    """With ACCEPTED: what it serves."""
    window_tokens: int | None = None
    """With ACCEPTED: of the model with the largest one; None: it does not tell."""
    warnings: tuple[str, ...] = ()
    """With ACCEPTED or CANARY_PASSED: what was found amiss on the way."""
    metrics: EngineMetrics | None = None
    """None: they were not asked for."""
    took_ms: float | None = None
    """With CANARY_PASSED: how long its token took."""


@dataclass(frozen=True, slots=True)
class Late:
    """No answer came in time, or only that the replica is full. What that means depends on what else is known."""

    detail: str


Look = Sighting | Late
