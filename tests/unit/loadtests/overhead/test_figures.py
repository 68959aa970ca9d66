"""Figures from what was heard, and medians over rounds."""

from collections import Counter

from loadtests.overhead.figures import Figures, figures_of, over_rounds
from loadtests.overhead.load import Heard


def figures(rate: float, *, memory_mb: float = 50, faults: int = 0) -> Figures:
    return Figures(rate, 1, 2, 0, 0, 100.0, 0.5, memory_mb, faults=Counter({"wrong": faults}) if faults else Counter())


def test_figures_count_chunks_where_there_are_any() -> None:
    waits = [n * 1_000_000 for n in range(1, 101)]
    found = figures_of(Heard(seconds=2, cpu_s=1, answers=10, chunks=100, waits_ns=waits), memory_mb=40)
    assert (found.rate, found.cpu_us, found.cpu_share, found.memory_mb) == (50, 10_000, 0.5, 40)
    assert (found.wait_p50, found.wait_p99, found.lateness_p99) == (50, 99, 0)
    assert found.per_core == 100
    assert (found.answers, found.answer_cpu_us, found.answers_per_core) == (5, 100_000, 10)
    assert figures_of(Heard(seconds=2, cpu_s=1, answers=10), memory_mb=40).rate == 5


def test_nothing_heard_is_nothing() -> None:
    found = figures_of(Heard(seconds=1), memory_mb=0)
    assert (found.rate, found.cpu_us, found.per_core, found.answers_per_core) == (0, 0, 0, 0)


def test_rounds_give_their_medians_the_most_memory_and_every_fault() -> None:
    found = over_rounds([figures(1), figures(30, memory_mb=60, faults=2), figures(2, faults=1)])
    assert (found.rate, found.memory_mb, found.faults.total()) == (2, 60, 3)
