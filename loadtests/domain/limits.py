"""What a turn must keep to so that it counts as good: all limits at once."""

from dataclasses import dataclass

from loadtests.domain.rows import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Drill seconds; None is no limit."""

    ttft_s: float | None = 1.5
    tpot_s: float | None = None
    e2e_s: float | None = 8.0

    def are_met_by(self, row: Row) -> bool:
        """A turn that failed, or had no text, meets none. The time per token of a one-token reply cannot be missed."""
        if row.failure is not None or (row.first_s is None and not row.was_cancelled):
            return False
        pairs = ((row.ttft_s, self.ttft_s), (row.tpot_s, self.tpot_s), (row.e2e_s, self.e2e_s))
        return all(limit is None or value is None or value <= limit for value, limit in pairs)
