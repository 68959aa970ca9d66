"""The lifecycle, and who may see a session."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.session import TRANSITIONS, Event, State, after, closed, in_scene, with_turn
from sessions.domain.viewer import Viewer
from sessions.errors import IllegalTransition
from tests.support.records_world import ELSEWHERE, HERE, session

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_every_pair_is_in_the_table_or_an_error(state: State, event: Event) -> None:
    if (state, event) in TRANSITIONS:
        assert after(state, event) in State
        return
    with pytest.raises(IllegalTransition) as refused:
        after(state, event)
    assert (refused.value.state, refused.value.event) == (state, event)


def test_an_open_session_takes_turns_until_it_is_closed() -> None:
    assert after(State.OPEN, Event.TURN) is State.OPEN
    assert after(State.OPEN, Event.CLOSE) is State.CLOSED


@given(st.lists(st.sampled_from(Event)))
def test_nothing_leaves_closed(events: list[Event]) -> None:
    state = State.CLOSED
    for event in events:
        if (state, event) in TRANSITIONS:
            state = after(state, event)
    assert state is State.CLOSED


def test_a_session_says_whether_it_is_open() -> None:
    assert session().is_open
    assert not replace(session(), state=State.CLOSED).is_open


def test_a_turn_moves_the_session_on_by_one() -> None:
    before = replace(session(), version=7, turn_count=3)
    moved = with_turn(before)
    assert (moved.version, moved.turn_count) == (8, before.next_turn)
    assert replace(moved, version=7, turn_count=3) == before


def test_a_closed_session_takes_no_turn() -> None:
    with pytest.raises(IllegalTransition):
        with_turn(closed(session(), at=NOW))


def test_a_change_of_scene_keeps_everything_else() -> None:
    before = replace(session(), version=7, turn_count=3)
    changed = in_scene(before, "closing")
    assert (changed.scene, changed.version) == ("closing", 8)
    assert replace(changed, scene=before.scene, version=7) == before


def test_going_to_the_same_scene_is_no_change() -> None:
    before = session()
    assert in_scene(before, before.scene) is before


@pytest.mark.parametrize("scene", ["closing", session().scene])
def test_a_closed_session_changes_no_scene(scene: str) -> None:
    with pytest.raises(IllegalTransition):
        in_scene(closed(session(), at=NOW), scene)


def test_closing_is_a_change_that_keeps_the_turns() -> None:
    before = replace(session(), version=7, turn_count=3)
    ended = closed(before, at=NOW)
    assert (ended.state, ended.version, ended.turn_count, ended.closed_at) == (State.CLOSED, 8, 3, NOW)


def test_closing_twice_is_no_second_change() -> None:
    ended = closed(session(), at=NOW)
    assert closed(ended, at=datetime(2026, 3, 2, tzinfo=UTC)) is ended


@pytest.mark.parametrize(
    ("viewer", "sees"),
    [
        (HERE.as_trainee(), True),
        (HERE.teacher, True),
        (HERE.as_trainee(HERE.other_trainee), False),
        (ELSEWHERE.teacher, False),
        (Viewer(ELSEWHERE.tenant, HERE.trainee, sees_all=False), False),
    ],
)
def test_a_session_is_seen_by_its_trainee_and_by_who_sees_all_of_its_tenant(viewer: Viewer, sees: bool) -> None:
    assert session().is_visible_to(viewer) is sees
