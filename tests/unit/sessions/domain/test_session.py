"""The lifecycle, and who may see a session."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.session import TRANSITIONS, Event, State, after
from sessions.domain.viewer import Viewer
from sessions.errors import IllegalTransition
from tests.support.records_world import ELSEWHERE, HERE, session


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
