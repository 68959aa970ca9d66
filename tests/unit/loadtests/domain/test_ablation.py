from dataclasses import replace

from loadtests.conduct.faults import faults_of
from loadtests.domain.ablation import Without, ablated, not_needed
from loadtests.domain.drill import Affinity, Drill, Wire
from loadtests.domain.timetable import timetable
from tests.support.load_rows import a_failed_turn, a_session

DRILL = Drill(trainees=3, turns=(2, 4))


def test_without_affinity_the_client_chooses_and_the_window_is_not_the_matter() -> None:
    found = ablated(DRILL, Without.AFFINITY)
    assert (found.wire, found.affinity, found.history) == (Wire.CHAT, Affinity.NONE, 20)
    assert ablated(replace(DRILL, history=6), Without.AFFINITY).history == 6


def test_without_compaction_the_whole_history_goes_to_one_address() -> None:
    found = ablated(replace(DRILL, history=6), Without.COMPACTION)
    assert (found.wire, found.affinity, found.history) == (Wire.CHAT, Affinity.SERVER, None)


def test_without_pre_scaling_the_class_is_booked_at_its_bell() -> None:
    found = ablated(replace(DRILL, faults=("kill@60:replica-2",)), Without.PRE_SCALING)
    assert found.faults == ("kill@60:replica-2", "late-booking@0:3")
    assert (found.wire, found.history) == (Wire.TURNS, None)
    (booked,) = faults_of(found.faults[1:])
    assert (booked.at_s, booked.target) == (0, "3")


def test_the_load_that_is_offered_stays_the_same() -> None:
    assert all(timetable(ablated(DRILL, each)) == timetable(DRILL) for each in Without)


def test_a_class_that_never_fills_the_window_does_not_need_compaction() -> None:
    turns = [replace(turn, prompt_tokens=tokens) for turn in a_session(turns=2) for tokens in (300, 1234)]
    said = not_needed(Without.COMPACTION, DRILL, turns)
    assert said is not None
    assert "1,234 of 4,096" in said
    assert not_needed(Without.COMPACTION, DRILL, []) is not None


def test_a_class_in_which_something_failed_may_have_needed_it() -> None:
    turns = [*a_session(turns=2), a_failed_turn(failure="http_400")]
    assert not_needed(Without.COMPACTION, DRILL, turns) is None
    assert not_needed(Without.AFFINITY, DRILL, a_session(turns=2)) is None
