"""The right reason comes first."""

from collections.abc import Sequence
from dataclasses import replace

from loadtests.domain.diagnosis import Cause, Seen, likely_reasons
from loadtests.domain.drill import Affinity, Drill
from loadtests.domain.figures import Figures
from loadtests.domain.rows import Row
from loadtests.domain.server import ReplicaSample
from tests.unit.loadtests.domain.test_reason import ROW
from tests.unit.loadtests.domain.test_server_causes import LATE, at

QUEUES = [ReplicaSample(at_s=second, replica="one", up=True, waiting=9, running=30) for second in range(-1, 50)]
LATECOMER = ReplicaSample(at_s=40, replica="two", up=True)


def causes(rows: Sequence[Row], figures: Figures, *, drill: Drill | None = None, extra: int = 0) -> list[Cause]:
    replicas = [*QUEUES, *[LATECOMER] * extra]
    seen = Seen(drill=drill or Drill(), figures=figures, rows=rows, replicas=replicas)
    return [reason.cause for reason in likely_reasons(seen)]


def test_a_run_in_which_nothing_went_wrong_has_no_reasons() -> None:
    assert likely_reasons(Seen(drill=Drill(), figures=Figures(turns=1), rows=[ROW])) == ()


def test_a_run_without_turns_has_but_one() -> None:
    assert causes([], Figures()) == [Cause.NOTHING]


def test_without_affinity_the_lack_of_it_comes_before_the_queue_that_it_makes() -> None:
    rows = [at(LATE, second, "one") for second in range(40)]
    figures = Figures(turns=40, warm_turns=30, cold={"moved": 15}, affinity_broken=20)
    assert causes(rows, figures, drill=Drill(affinity=Affinity.NONE)) == [Cause.AFFINITY, Cause.QUEUE]


def test_without_pre_scaling_the_replicas_that_were_missing_come_first() -> None:
    rows = [at(LATE, second, "one") for second in range(40)]
    assert causes(rows, Figures(turns=40), extra=1) == [Cause.REPLICAS_SHORT, Cause.QUEUE]


def test_without_compaction_the_window_comes_first() -> None:
    refused = [replace(at(ROW, second), failure="http_400") for second in range(5)]
    rows = [*refused, *(at(LATE, second, "one") for second in range(20))]
    assert causes(rows, Figures(turns=25)) == [Cause.WINDOW, Cause.QUEUE]


def test_too_much_load_alone_is_a_queue() -> None:
    rows = [at(LATE, second, "one") for second in range(20)]
    figures = Figures(turns=20, warm_turns=10, cold={"evicted": 3}, preemptions=1)
    assert causes(rows, figures) == [Cause.QUEUE, Cause.MEMORY]
