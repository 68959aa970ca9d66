import json
import math
from dataclasses import replace

import pytest

from loadtests.domain.certificate import (
    Answer,
    Certificate,
    Evidence,
    Lived,
    certificate,
    forgiving_faults,
    targets_of_a_class,
)
from loadtests.domain.drill import Drill
from loadtests.domain.figures import Figures, Slice
from loadtests.domain.seat_search import Trial
from loadtests.domain.server import Event, EventKind
from loadtests.domain.spread import spread_of
from loadtests.domain.verdict import judge

DRILL = Drill(trainees=100, turns=(30, 30))
TARGETS = targets_of_a_class(1.5)
GOOD = Figures(
    turns=3000,
    good_turns=3000,
    sessions=100,
    completed=100,
    audited=100,
    ttft=spread_of([0.4] * 3000),
    ttft_planned=spread_of([0.5] * 3000),
    bell_ttft=spread_of([0.9] * 100),
    e2e=spread_of([2.0] * 3000),
    warm_turns=2900,
    cold={"moved": 29},
    affinity_moved=29,
    replica_seconds=36_000.0,
    client_lag=spread_of([0.001] * 3000),
    by_replica=(
        Slice(key="replica-1", turns=3000, failed=0, ttft=spread_of([0.4]), e2e=spread_of([2.0]), tpot=spread_of([])),
    ),
)


def given(figures: Figures = GOOD, **more: object) -> Certificate:
    drill = more.pop("drill", DRILL)
    assert isinstance(drill, Drill)
    spoiled = ("a worker died",) if more.pop("is_spoiled", False) else ()
    verdict = judge(figures, TARGETS, drill=drill, spoiled=spoiled)
    evidence = Evidence(drill=drill, targets=TARGETS, figures=figures, verdict=verdict)
    return certificate(replace(evidence, **more))  # type: ignore[arg-type]  # fields of Evidence by name


def test_a_class_that_kept_to_everything_is_certified_with_its_price() -> None:
    found = given(price_per_hour=2.0, run_digest="abc")
    assert (found.answer, found.exit_code) == (Answer.CERTIFIED, 0)
    assert (found.seats, found.asked_seats, found.drills_lost) == (100, 100, 0)
    assert (found.gpu_hours, found.gpu_hours_per_drill, found.cost_per_drill) == (10.0, 0.1, 0.2)
    assert found.title == "Certified: 100 seats with a first token within 1.5 s"
    assert found.why == ()
    assert found.reservations == ()
    assert found.cold == {"moved": 29}


def test_without_a_price_or_samples_no_cost_is_told() -> None:
    assert given().cost_per_drill is None
    found = given(replace(GOOD, replica_seconds=None), price_per_hour=2.0)
    assert (found.gpu_hours, found.gpu_hours_per_drill, found.cost_per_drill) == (None, None, None)


def test_a_late_first_token_is_not_certified_and_says_what_was_missed_and_why() -> None:
    late = replace(GOOD, ttft=spread_of([9.0] * 3000), bell_ttft=spread_of([math.inf] * 100))
    found = given(late, reasons=("too few replicas: 2 of 9 were up at the bell",))
    assert (found.answer, found.exit_code, found.seats) == (Answer.NOT_CERTIFIED, 1, 0)
    assert "ttft_p95_s: 9, at most 1.5" in found.why
    assert "bell_ttft_p95_s: no answer, at most 1.5" in found.why
    assert found.why[-1].startswith("too few replicas")
    assert found.title.startswith("Not certified: a class of 100")


def test_what_is_missed_beside_the_first_token_leaves_the_seats() -> None:
    found = given(replace(GOOD, good_turns=10, lost_turns=1))
    assert (found.answer, found.seats) == (Answer.NOT_CERTIFIED, 100)
    assert any(each.startswith("goodput_share: 0.003333, at least 0.95") for each in found.why)


def test_a_drill_that_was_not_completed_is_lost() -> None:
    found = given(replace(GOOD, completed=98))
    assert (found.answer, found.drills_lost) == (Answer.NOT_CERTIFIED, 2)
    assert "2 of 100 drills were not completed" in found.why


def test_a_run_that_the_client_spoiled_shows_nothing() -> None:
    found = given(is_spoiled=True)
    assert (found.answer, found.exit_code, found.seats) == (Answer.VOID, 3, 0)
    assert found.why == ("a worker died",)
    assert found.title.startswith("Nothing shown")


def test_what_a_small_class_cannot_show_is_reserved() -> None:
    small = replace(
        GOOD,
        turns=300,
        good_turns=300,
        ttft=spread_of([0.4] * 300),
        ttft_planned=spread_of([0.4] * 300),
        bell_ttft=spread_of([0.9] * 10),
        completed=10,
    )
    found = given(small, drill=replace(DRILL, trainees=10))
    assert (found.answer, found.seats) == (Answer.CERTIFIED, 10)
    assert any(each.startswith("failure_share: 0 of 300") for each in found.reservations)
    worse = replace(small, bell_ttft=spread_of([0.9] * 9 + [2.0]))
    doubtful = given(worse, drill=replace(DRILL, trainees=10))
    assert (doubtful.answer, doubtful.seats) == (Answer.VOID, 0)
    assert any(each.startswith("bell_ttft_p95_s") for each in doubtful.why)


def test_nothing_asked_is_nothing_shown() -> None:
    found = given(Figures(client_lag=spread_of([0.0])))
    assert found.answer is Answer.NOT_CERTIFIED
    assert (found.seats, found.gpu_hours_per_drill) == (0, None)


def test_what_was_not_measured_is_not_shown() -> None:
    found = given(replace(GOOD, audited=0))
    assert found.answer is Answer.VOID
    assert "lost_turns: no record was read" in found.why
    floor = given(replace(GOOD, turns=50, good_turns=50, ttft=spread_of([0.1] * 50)))
    assert floor.answer is Answer.CERTIFIED


def test_turns_whose_replica_was_broken_may_be_cold() -> None:
    assert TARGETS.cold_share is not None
    worse = replace(GOOD, affinity_moved=290, cold={"moved": 290, "evicted": 7, "lost": 290})
    assert forgiving_faults(TARGETS, worse).cold_share == pytest.approx(TARGETS.cold_share + 0.2)
    assert forgiving_faults(TARGETS, Figures()) == TARGETS
    let_go = replace(TARGETS, cold_share=None)
    assert forgiving_faults(let_go, GOOD) == let_go


def test_faults_are_told_with_the_time_until_they_were_mended() -> None:
    def event(at_s: float, kind: EventKind, target: str, note: str) -> Event:
        return Event(at_s=at_s, kind=kind, target=target, note=note)

    events = (
        event(0, EventKind.BELL, "", ""),
        event(30, EventKind.FAULT, "replica-1", "kill"),
        event(35, EventKind.FAULT, "replica-1", "slow"),
        event(50, EventKind.FAULT, "redis", "redis-flush"),
        event(55, EventKind.MENDED, "replica-1", "slow after 20.0 s"),
        event(90, EventKind.MENDED, "replica-1", "kill after 60.0 s"),
        event(95, EventKind.MENDED, "replica-1", "kill after 65.0 s"),
    )
    assert given(events=events, uncaused=("a replica frozen: no",)).lived_through == (
        Lived(kind="kill", target="replica-1", at_s=30, mended_after_s=60),
        Lived(kind="slow", target="replica-1", at_s=35, mended_after_s=20),
        Lived(kind="redis-flush", target="redis", at_s=50, mended_after_s=None),
    )


def test_seats_that_were_searched_for_count() -> None:
    trials = (Trial(seats=100, held=True), Trial(seats=150, held=False), Trial(seats=125, held=True))
    assert given(trials=trials).seats == 125


def test_simulated_replicas_stand_in_the_title() -> None:
    assert "on simulated replicas" in given(is_simulated=True).title
    assert "on simulated replicas" not in given().title


def test_a_certificate_can_be_written_and_its_digest_knows_every_word() -> None:
    late = replace(GOOD, ttft=spread_of([math.inf] * 3000))
    found = given(late, valid_for={"fleet": "sim:9"}, run_digest="abc", trials=(Trial(seats=1, held=True),))
    told = json.loads(json.dumps(found.as_json()))
    assert told["ttft_p95_s"] == "inf"
    assert told["digest"] == found.digest
    assert told["trials"][0]["seats"] == 1
    assert len({found.digest, replace(found, seats=7).digest, replace(found, run_digest="abd").digest}) == 3
