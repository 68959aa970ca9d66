"""Every reason against a comparison is said, and nothing else."""

from dataclasses import replace

from loadtests.domain.drill import Crowd, Drill, Shape
from loadtests.domain.likeness import Circumstances, differences, fleet_change, unlike
from loadtests.domain.targets import DEFAULT
from loadtests.domain.verdict import Whole

ONE = Circumstances(run="one", drill=Drill(), machine="m-1", fleet=("sim",), targets=DEFAULT, whole=Whole.PASSED)
OTHER = replace(ONE, run="other")


def test_repetitions_are_alike() -> None:
    assert unlike([ONE], [OTHER]) == ()
    assert unlike([ONE, OTHER], [OTHER]) == ()


def test_other_drills_are_named_by_their_fields() -> None:
    drill = Drill(trainees=40, crowd=Crowd(leavers=0.1))
    assert unlike([ONE], [replace(OTHER, drill=drill)]) == (
        "other is another drill than one: trainees 20, then 40; crowd.leavers 0.0, then 0.1",
    )
    assert differences(Drill(), Drill()) == []


def test_another_window_makes_another_drill_only_where_texts_are_made_by_it() -> None:
    assert differences(Drill(), Drill(window_tokens=8192)) == []
    kv = Drill(shape=Shape.KV)
    assert differences(kv, replace(kv, window_tokens=8192)) == ["window_tokens 4096, then 8192"]


def test_another_machine_is_said() -> None:
    assert unlike([ONE], [replace(OTHER, machine="m-2")]) == ("other was played on another machine than one",)
    assert unlike([ONE], [replace(OTHER, machine="")]) == ("of other the machine is not known",)
    assert unlike([replace(ONE, machine="")], [OTHER]) == ("of one the machine is not known",)


def test_void_and_incomplete_runs_are_said() -> None:
    spoiled = replace(OTHER, whole=Whole.VOID, incomplete="it was interrupted")
    assert unlike([ONE], [spoiled]) == (
        "other is void: its times are the client's, not the servers'",
        "other is incomplete: it was interrupted",
    )


def test_another_notion_of_a_good_turn_is_said_and_other_targets_are_not() -> None:
    assert unlike([ONE], [replace(OTHER, targets=replace(DEFAULT, good_e2e_s=9))]) == (
        "other calls other turns good than one",
    )
    assert unlike([ONE], [replace(OTHER, targets=replace(DEFAULT, let_in=9))]) == ()


def test_runs_that_are_pooled_must_be_repetitions() -> None:
    assert unlike([ONE, replace(OTHER, machine="m-2")], [ONE]) == (
        "pooled with one, but other was played on another machine than one",
    )


def test_another_fleet_is_no_reason_against_it_but_is_told() -> None:
    assert fleet_change(ONE, OTHER) is None
    assert fleet_change(ONE, replace(OTHER, fleet=())) == "the fleet was sim, and is unknown"
