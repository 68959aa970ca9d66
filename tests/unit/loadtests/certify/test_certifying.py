from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.certify.certifying import searched, short_class, trial_of, unexpected
from loadtests.certify.wish import Wish
from loadtests.conduct.order import Exit, Outcome
from loadtests.domain.certificate import targets_of_a_class
from loadtests.domain.drill import Drill
from loadtests.domain.figures import Figures
from loadtests.domain.spread import spread_of
from loadtests.domain.usual_faults import given_faults, usual_faults
from loadtests.domain.verdict import judge
from loadtests.run_folder import RunFolder
from loadtests.target import Asked

DRILL = Drill(trainees=40, turns=(20, 50), lobby_s=20, faults=("kill@1",))
GOOD = Figures(
    turns=600,
    good_turns=600,
    completed=100,
    audited=100,
    ttft=spread_of([0.5] * 600),
    ttft_planned=spread_of([0.5] * 600),
    bell_ttft=spread_of([1.0] * 100),
    client_lag=spread_of([0.001]),
)


def outcome(figures: Figures) -> Outcome:
    return Outcome(
        folder=RunFolder(Path()),
        figures=figures,
        verdict=judge(figures, targets_of_a_class(1.5), drill=DRILL),
        void=None,
        incomplete=None,
        exit_code=Exit.PASSED,
    )


def test_what_will_not_be_broken_is_foretold_unless_it_was_asked_for() -> None:
    spared = usual_faults([], length_s=100, is_own=False)
    assert unexpected(Wish(drill=DRILL, asked=Asked()), spared) == spared.uncaused != ()
    assert unexpected(Wish(drill=DRILL, asked=Asked(), faults=()), given_faults(())) == ()


def test_a_search_plays_short_classes_that_open_as_densely() -> None:
    found = short_class(DRILL, 80)
    assert (found.trainees, found.turns, found.lobby_s, found.faults) == (80, (6, 6), 40, ())
    assert replace(found, trainees=40, turns=DRILL.turns, lobby_s=20, faults=DRILL.faults) == DRILL
    assert short_class(DRILL, 20).lobby_s == 20
    assert short_class(replace(DRILL, turns=(3, 4)), 20).turns == (3, 3)


def test_a_class_held_with_its_first_token_in_time_and_nothing_lost() -> None:
    found = trial_of(100, outcome(GOOD))
    assert (found.seats, found.held, found.ttft_p95_s) == (100, True, 0.5)


@pytest.mark.parametrize(
    "worse",
    [
        replace(GOOD, bell_ttft=spread_of([2.0] * 100)),
        replace(GOOD, bell_ttft=spread_of([2.0] * 3)),
        replace(GOOD, bell_ttft=spread_of([])),
        replace(GOOD, ttft_planned=spread_of([2.0] * 600)),
        replace(GOOD, failed=1),
        replace(GOOD, completed=99),
    ],
)
def test_it_did_not_hold_with_a_late_or_failed_turn(worse: Figures) -> None:
    assert not trial_of(100, outcome(worse)).held


def test_other_targets_are_no_matter_of_seats() -> None:
    assert trial_of(100, outcome(replace(GOOD, good_turns=0))).held


def test_seats_are_searched_for_until_they_are_known() -> None:
    played: list[int] = []

    def play(drill: Drill) -> Outcome:
        played.append(drill.trainees)
        figures = replace(GOOD, completed=drill.trainees)
        return outcome(figures if drill.trainees <= 50 else replace(figures, failed=1))

    said: list[str] = []
    first = trial_of(40, outcome(GOOD))
    found = searched(DRILL, first, play=play, say=said.append)
    assert played == [60, 50, 55, 52]
    assert [each.seats for each in found] == [40, *played]
    assert said == ["60 seats did not hold", "50 seats held", "55 seats did not hold", "52 seats did not hold"]


def test_the_search_ends_with_a_class_that_shows_nothing() -> None:
    said: list[str] = []
    spoiled = replace(outcome(GOOD), void="the client was late")
    first = trial_of(40, outcome(GOOD))
    assert searched(DRILL, first, play=lambda _: spoiled, say=said.append) == (first,)
    assert said == ["the search ends: the client was late"]


def test_no_more_than_eight_classes_are_played() -> None:
    huge = replace(DRILL, trainees=1000)
    first = trial_of(1000, outcome(replace(GOOD, failed=1)))
    found = searched(huge, first, play=lambda _: outcome(replace(GOOD, failed=1)), say=lambda _: None)
    assert len(found) == 9
