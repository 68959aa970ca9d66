"""Every step plays the same class, and changes what it says."""

from itertools import pairwise

from loadtests.domain.drill import Affinity, Shape, Wire
from loadtests.domain.timetable import timetable
from loadtests.story.steps import STEPS, WIDE_WINDOW, WINDOW, Basis, Card, Telling, drill_of_step, quick


def planned(wire: Wire) -> list[float]:
    step = next(each for each in STEPS if each.wire is wire)
    return [
        ask.at_s for part in timetable(drill_of_step(step, Telling())) for visit in part.visits for ask in visit.asks
    ]


def test_messages_are_planned_alike_whoever_keeps_the_history() -> None:
    assert planned(Wire.CHAT) == planned(Wire.TURNS)


def test_all_but_the_server_is_the_same_in_every_step() -> None:
    drills = [drill_of_step(step, Telling()) for step in STEPS]
    assert {drill.shape for drill in drills} == {Shape.STAIRCASE}
    for one, other in pairwise(drills):
        assert (one.stairs, one.turns, one.think_s, one.seed) == (other.stairs, other.turns, other.think_s, other.seed)


def test_one_thing_changes_with_each_step() -> None:
    changed = [
        {
            name
            for name in ("card", "window_tokens", "wire", "affinity")
            if getattr(before, name) != getattr(after, name)
        }
        for before, after in pairwise(STEPS)
    ]
    assert changed == [{"affinity"}, {"wire"}, {"card", "window_tokens"}, {"card"}, {"card"}]


def test_what_only_the_profile_says_is_called_modelled() -> None:
    modelled = {step.name for step in STEPS if step.basis is Basis.MODELLED}
    assert modelled == {step.name for step in STEPS if step.card in {Card.INT8, Card.AFTER}}
    measured = {step.name for step in STEPS if step.basis is Basis.MEASURED}
    assert measured == {step.name for step in STEPS if step.card is Card.BEFORE}


def test_the_first_step_has_nothing_and_the_last_one_all() -> None:
    first, last = STEPS[0], STEPS[-1]
    assert (first.wire, first.affinity, first.window_tokens) == (Wire.CHAT, Affinity.NONE, WIDE_WINDOW)
    assert (last.wire, last.card, last.window_tokens) == (Wire.TURNS, Card.AFTER, WINDOW)


def test_stairs_are_sessions_of_all_cards() -> None:
    drill = drill_of_step(STEPS[0], Telling(cards=3, per_card=(2, 5)))
    assert (drill.stairs, drill.trainees) == ((6, 15), 15)


def test_the_quick_one_is_over_within_ten_real_seconds() -> None:
    telling = quick(Telling())
    assert len(telling.per_card) * telling.stair_s / telling.speed_up <= 10
