"""What a drill costs in money: replicas x hours from their start to their end x price.

    hours = (lead before the bell + drill + time to drain) / 3600

once with the lead as planned and, where the time from start to warm was measured, once with that time's p95 x a safety
factor. The difference is what waiting costs: replicas that stand warm and empty.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    price_per_hour: float
    drill_s: float
    lead_s: float
    drain_s: float
    measured_start_s: float | None
    """The 95th percentile of start to warm, as it was measured; None where nobody did."""
    safety: float

    @property
    def measured_lead_s(self) -> float | None:
        return None if self.measured_start_s is None else self.measured_start_s * self.safety


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillCost:
    replica_hours: float
    price: float
    price_per_trainee: float
    lead_share: float
    """Of the replica hours, how many pass before the bell."""


def drill_cost(tariff: Tariff, *, replicas: int, trainees: int, lead_s: float) -> DrillCost:
    seconds = lead_s + tariff.drill_s + tariff.drain_s
    hours = replicas * seconds / 3600
    price = hours * tariff.price_per_hour
    return DrillCost(
        replica_hours=hours,
        price=price,
        price_per_trainee=price / trainees,
        lead_share=lead_s / seconds,
    )
