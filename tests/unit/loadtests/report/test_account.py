"""What follows from what is told of a run."""

from dataclasses import replace

import pytest

from loadtests.domain.drill import Drill
from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.domain.reason import Seen
from loadtests.domain.server import Event, EventKind
from loadtests.domain.targets import DEFAULT
from loadtests.domain.verdict import judge
from loadtests.report.account import Account
from loadtests.report.frame import Mark

FIGURES = Figures(turns=10, completed=4, replica_seconds=7200)
EVENTS = (
    Event(at_s=0, kind=EventKind.BELL),
    Event(at_s=60, kind=EventKind.DEED, note="late-booking"),
    Event(at_s=120, kind=EventKind.STEP, note="40"),
    Event(at_s=200, kind=EventKind.FAULT, target="replica-1", note="kill"),
    Event(at_s=212, kind=EventKind.MENDED, target="replica-1", note="kill after 12 s"),
    Event(at_s=250, kind=EventKind.FAULT, note="redis-flush"),
    Event(at_s=300, kind=EventKind.END),
)


def account(figures: Figures = FIGURES, **changes: object) -> Account:
    seen = Seen(drill=Drill(speed_up=4), figures=figures, events=EVENTS)
    plain = Account(name="run", seen=seen, lag=(), verdict=judge(figures, DEFAULT), price_per_hour=3.0)
    return replace(plain, **changes)  # type: ignore[arg-type]  # fields by name


def test_a_drill_costs_the_time_of_its_replicas() -> None:
    assert account().replica_seconds_per_drill == 1800
    assert account().cost_per_drill == pytest.approx(1.5)
    assert account(price_per_hour=None).cost_per_drill is None
    assert account(Figures(turns=10, replica_seconds=7200)).cost_per_drill is None
    assert account(Figures(turns=10, completed=4)).replica_seconds_per_drill is None


def test_replicas_with_a_profile_are_simulated() -> None:
    assert account(facts={"replicas": [{"id": "a"}, {"id": "b", "profile": "after"}]}).is_simulated
    for facts in ({}, {"replicas": None}, {"replicas": [{"id": "a"}, "b"]}):
        assert not account(facts=facts).is_simulated


def test_marks_are_bell_steps_deeds_and_faults_until_they_are_mended_or_to_the_end() -> None:
    assert account().marks() == [
        Mark(at=0, label="bell"),
        Mark(at=60, label="late-booking"),
        Mark(at=120, label="40 trainees"),
        Mark(at=200, until=212, label="kill of replica-1"),
        Mark(at=250, until=300, label="redis-flush"),
    ]


def test_all_charts_cover_the_same_time() -> None:
    late = Slice(key=310, turns=1, failed=0, ttft=Spread(), e2e=Spread(), tpot=Spread())
    assert (account().time.low, account().time.high) == (-10, 300)
    longer = account(replace(FIGURES, over_time=(late,)))
    assert longer.time.high == 310
    assert longer.within([(-11, 1), (-10, 2), (310, None), (311, 3)]) == [(-10, 2), (310, None)]
    assert account().look_s == 4
