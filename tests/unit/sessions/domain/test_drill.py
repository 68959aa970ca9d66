"""What a drill may be like, what becomes of it, and who may begin in it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sessions.domain.drill import MAX_PEOPLE, TRANSITIONS, DrillEvent, DrillState, admit, changed, checked, ended
from sessions.domain.scenario import ScenarioId
from sessions.errors import DrillClosed, DrillInvalid, IllegalTransition
from tests.support.drill_world import drill, plan
from tests.support.records_world import NOON, uuid_of


@pytest.mark.parametrize(
    "sound",
    [
        plan(),
        plan(seats=None, turns_in_flight=None, walk_ins=0),
        plan(seats=0, walk_ins=1),
        plan(seats=MAX_PEOPLE, expected_trainees=1, turns_in_flight=1),
    ],
)
def test_a_plan_that_can_be_held_stays_as_it_is(sound: object) -> None:
    assert checked(sound) is sound  # type: ignore[arg-type]  # a plan


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("name", {"name": " \n"}),
        ("ends_at", {"ends_at": NOON}),
        ("ends_at", {"ends_at": NOON - timedelta(hours=1)}),
        ("starts_at", {"starts_at": datetime(1, 1, 1, tzinfo=UTC)}),
        ("ends_at", {"ends_at": datetime.max.replace(tzinfo=UTC)}),
        ("expected_trainees", {"expected_trainees": 0}),
        ("expected_trainees", {"expected_trainees": MAX_PEOPLE + 1}),
        ("seats", {"seats": -1}),
        ("seats", {"seats": 0, "walk_ins": 0}),
        ("walk_ins", {"walk_ins": -1}),
        ("turns_in_flight", {"turns_in_flight": 0}),
    ],
)
def test_a_plan_that_cannot_be_held_names_the_field(field: str, changes: dict[str, object]) -> None:
    with pytest.raises(DrillInvalid) as invalid:
        checked(plan(**changes))
    assert invalid.value.field == field


def test_a_change_makes_the_next_version_and_must_be_sound() -> None:
    wanted = plan(name="Friday's")
    assert changed(drill(), wanted) == replace(drill(), plan=wanted, version=2)
    with pytest.raises(DrillInvalid):
        changed(drill(), plan(name=""))


@pytest.mark.parametrize("state", DrillState)
@pytest.mark.parametrize("event", DrillEvent)
def test_what_is_not_in_the_table_is_refused(state: DrillState, event: DrillEvent) -> None:
    before = replace(drill(), state=state)

    def act() -> object:
        return changed(before, plan()) if event is DrillEvent.CHANGE else ended(before, event)

    if (state, event) not in TRANSITIONS:
        with pytest.raises(IllegalTransition):
            act()
        return
    after = TRANSITIONS[state, event]
    same = after is state and event is not DrillEvent.CHANGE
    assert act() == (before if same else replace(before, state=after, version=2, plan=plan()))


def test_a_session_of_its_scenario_may_begin_until_it_ends_and_also_before_it_starts() -> None:
    for minutes in (-60, 0, 119):
        admit(drill(), drill().plan.scenario, now=NOON + timedelta(minutes=minutes))
    with pytest.raises(DrillClosed, match="over"):
        admit(drill(), drill().plan.scenario, now=NOON + timedelta(minutes=120))


def test_no_session_begins_in_a_drill_that_is_cancelled_or_archived_or_plays_something_else() -> None:
    for event, reason in ((DrillEvent.CANCEL, "cancelled"), (DrillEvent.ARCHIVE, "archived")):
        with pytest.raises(DrillClosed) as closed:
            admit(ended(drill(), event), drill().plan.scenario, now=NOON)
        assert closed.value.reason == reason
    with pytest.raises(DrillInvalid) as invalid:
        admit(drill(), ScenarioId(uuid_of("another")), now=NOON)
    assert invalid.value.field == "scenario_id"
