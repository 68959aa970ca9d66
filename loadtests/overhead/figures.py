"""Figures of one target under one course, and their medians over rounds: pure arithmetic."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from loadtests.domain.spread import at_rank
from loadtests.overhead.load import Heard


@dataclass(frozen=True, slots=True)
class Figures:
    """Times in milliseconds, rates per second of wall time. `cpu_us` is the target's time per chunk, or per answer."""

    rate: float
    """Chunks, or whole answers."""
    wait_p50: float
    wait_p99: float
    lateness_p50: float
    lateness_p99: float
    cpu_us: float
    cpu_share: float
    memory_mb: float
    answers: float = 0.0
    """Whole answers, or turns, per second."""
    answer_cpu_us: float = 0.0
    starved_share: float = 0.0
    """Of the time, how much it waited for its core."""
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def per_core(self) -> float:
        """What a second of its core carries. Where it has the core for itself and enough to do, that is its rate; where
        the load or somebody else on the machine is the limit, this is what can still be compared.
        """
        return 1e6 / self.cpu_us if self.cpu_us else 0.0

    @property
    def answers_per_core(self) -> float:
        """The same, in answers."""
        return 1e6 / self.answer_cpu_us if self.answer_cpu_us else 0.0


def figures_of(heard: Heard, *, memory_mb: float, starved_share: float = 0.0) -> Figures:
    things = heard.chunks or heard.answers
    return Figures(
        rate=things / heard.seconds,
        wait_p50=_ms(heard.waits_ns, 500),
        wait_p99=_ms(heard.waits_ns, 990),
        lateness_p50=_ms(heard.lateness_ns, 500),
        lateness_p99=_ms(heard.lateness_ns, 990),
        cpu_us=heard.cpu_s / things * 1e6 if things else 0.0,
        cpu_share=heard.cpu_s / heard.seconds,
        memory_mb=memory_mb,
        answers=heard.answers / heard.seconds,
        answer_cpu_us=heard.cpu_s / heard.answers * 1e6 if heard.answers else 0.0,
        starved_share=starved_share,
        faults=heard.faults,
    )


def over_rounds(rounds: Sequence[Figures]) -> Figures:
    """Medians, the most memory, and every fault."""
    faults: Counter[str] = Counter()
    for each in rounds:
        faults.update(each.faults)

    def middle(figure: Callable[[Figures], float]) -> float:
        return median(figure(each) for each in rounds)

    return Figures(
        rate=middle(lambda each: each.rate),
        wait_p50=middle(lambda each: each.wait_p50),
        wait_p99=middle(lambda each: each.wait_p99),
        lateness_p50=middle(lambda each: each.lateness_p50),
        lateness_p99=middle(lambda each: each.lateness_p99),
        cpu_us=middle(lambda each: each.cpu_us),
        cpu_share=middle(lambda each: each.cpu_share),
        memory_mb=max(each.memory_mb for each in rounds),
        answers=middle(lambda each: each.answers),
        answer_cpu_us=middle(lambda each: each.answer_cpu_us),
        starved_share=middle(lambda each: each.starved_share),
        faults=faults,
    )


def _ms(values_ns: Sequence[int], thousandths: int) -> float:
    """The nearest-rank percentile; 0 of nothing."""
    return at_rank(sorted(values_ns), thousandths) / 1e6 if values_ns else 0.0
