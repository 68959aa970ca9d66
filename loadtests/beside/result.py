"""What became of the class in one arm: its figures, and what the replicas had to compute for it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from loadtests.beside.arms import Arm
from loadtests.domain.figures import Figures
from loadtests.domain.rows import Kind, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """`prompts` and `computed` are tokens as the replicas count them, notes and warm-ups included; None: one of them
    was killed, and its counters with it.
    """

    arm: Arm
    figures: Figures
    prompts: int | None = None
    computed: int | None = None
    by_replica: Mapping[str, int] = field(default_factory=dict)
    """Prompt tokens of each."""
    continued: int = 0
    """Turns that another replica took over in mid-reply."""
    void: str | None = None

    def ttft_s(self, turn: int) -> float | None:
        """The median of all trainees."""
        return next((each.ttft.p50 for each in self.figures.by_turn if each.key == turn), None)

    def as_json(self) -> Mapping[str, object]:
        arm = asdict(self.arm) | {"name": self.arm.name}
        told = {name: getattr(self, name) for name in ("prompts", "computed", "by_replica", "continued", "void")}
        return {"arm": arm, **told, "figures": self.figures.as_json()}


def continued(rows: Sequence[Row]) -> int:
    return sum(row.continued and row.failure is None for row in rows if row.kind is Kind.TURN)
