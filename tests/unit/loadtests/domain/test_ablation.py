from dataclasses import replace

from loadtests.domain.ablation import Without, ablated
from loadtests.domain.drill import Affinity, Drill, Wire
from loadtests.domain.timetable import timetable

DRILL = Drill(trainees=3, turns=(2, 4))


def test_without_affinity_the_client_chooses_and_the_window_is_not_the_matter() -> None:
    found = ablated(DRILL, Without.AFFINITY)
    assert (found.wire, found.affinity, found.history) == (Wire.CHAT, Affinity.NONE, 20)
    assert ablated(replace(DRILL, history=6), Without.AFFINITY).history == 6


def test_without_compaction_the_whole_history_goes_to_one_address() -> None:
    found = ablated(replace(DRILL, history=6), Without.COMPACTION)
    assert (found.wire, found.affinity, found.history) == (Wire.CHAT, Affinity.SERVER, None)


def test_without_pre_scaling_the_drill_is_the_same() -> None:
    assert ablated(DRILL, Without.PRE_SCALING) == DRILL


def test_the_load_that_is_offered_stays_the_same() -> None:
    assert all(timetable(ablated(DRILL, each)) == timetable(DRILL) for each in Without)
