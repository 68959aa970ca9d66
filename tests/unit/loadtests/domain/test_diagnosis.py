"""The right reason comes first."""

from collections.abc import Sequence
from dataclasses import fields, replace

import pytest

from loadtests.domain.diagnosis import likely_reasons
from loadtests.domain.drill import Affinity, Drill
from loadtests.domain.figures import Figures
from loadtests.domain.reason import Cause, Seen
from loadtests.domain.rows import Row
from loadtests.domain.server import Event, EventKind, ReplicaSample
from loadtests.domain.targets import Targets
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


FAULT = Event(at_s=100, kind=EventKind.FAULT, target="one", note="kill")


def explained(rows: Sequence[Row], figures: Figures, missed: Sequence[str]) -> list[Cause]:
    seen = Seen(drill=Drill(), figures=figures, rows=rows, replicas=QUEUES, events=[FAULT])
    return [reason.cause for reason in likely_reasons(seen, missed=missed)]


def test_only_what_can_explain_a_missed_target_is_its_reason() -> None:
    rows = [replace(at(ROW, 100 + second), failure="no_end") for second in range(3)] + [ROW] * 997
    figures = Figures(turns=1000, warm_turns=900, cold={"folded": 90}, lost_turns=1, false_blocks=1, let_in=1)
    everything = explained(rows, figures, [])
    assert {Cause.FAULT, Cause.FOLDED, Cause.RECORD, Cause.BLOCKED, Cause.LET_IN} == set(everything)
    assert explained(rows, figures, ["failure_share"]) == [Cause.FAULT, Cause.BLOCKED]
    assert explained(rows, figures, ["ttft_p95_s"]) == [Cause.FOLDED]
    assert explained(rows, figures, ["lost_turns", "let_in"]) == [Cause.RECORD, Cause.LET_IN]
    assert explained(rows, figures, ["cold_share"]) == [Cause.FOLDED, Cause.FAULT]
    assert explained(rows, figures, ["a target of tomorrow"]) == []


def test_late_first_turns_alone_are_explained_by_what_they_met() -> None:
    first = [at(LATE, second, "one") for second in range(5)]
    later = [replace(at(LATE, 100 + second), turn=2) for second in range(5)]
    calm = [replace(at(ROW, 20 + second), turn=2) for second in range(20)]
    figures = Figures(turns=30, warm_turns=25, cold={"folded": 5})
    assert explained([*first, *later, *calm], figures, ["bell_ttft_p95_s"]) == [Cause.QUEUE]
    everything = explained([*first, *later, *calm], figures, ["bell_ttft_p95_s", "ttft_p95_s"])
    assert set(everything) == {Cause.FAULT, Cause.FOLDED, Cause.QUEUE}


@pytest.mark.parametrize(("spoiled", "is_felt"), [(9, False), (10, True)])
def test_a_hundredth_of_the_turns_can_move_a_95th_percentile(spoiled: int, *, is_felt: bool) -> None:
    rows = [at(LATE, 100 + second / 10) for second in range(spoiled)] + [ROW] * (1000 - spoiled)
    assert (Cause.FAULT in explained(rows, Figures(turns=1000), ["ttft_p95_s"])) is is_felt


def test_every_target_of_a_class_is_known() -> None:
    names = {each.name for each in fields(Targets) if not each.metadata["setting"]}
    for name in names:
        worst = Figures(
            turns=10, warm_turns=9, cold={"moved": 3, "folded": 3, "evicted": 3, "lost": 3}, affinity_broken=3
        )
        worst = replace(worst, lost_turns=1, false_blocks=1, let_in=1)
        assert explained([at(LATE, second, "one") for second in range(10)], worst, [name]), name
