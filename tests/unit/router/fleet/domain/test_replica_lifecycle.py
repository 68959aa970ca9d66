"""The life of one replica, step by step."""

from itertools import product

import pytest

from router.fleet.domain.replica_lifecycle import (
    DEADLINES,
    ON_THEIR_WAY,
    TRANSITIONS,
    IllegalStep,
    ReplicaEvent,
    ReplicaState,
    after,
    overdue,
)


def test_a_replica_lives_from_the_wish_to_its_end() -> None:
    state, seen = ReplicaState.WANTED, []
    for event in (
        *(ReplicaEvent.PLACED, ReplicaEvent.ANSWERED, ReplicaEvent.WARMED, ReplicaEvent.DRAINED),
        *(ReplicaEvent.KEPT, ReplicaEvent.DRAINED, ReplicaEvent.STOPPED),
    ):
        state = after(state, event)
        seen.append(state.value)
    assert seen == ["starting", "warming", "ready", "draining", "ready", "draining", "stopped"]


@pytest.mark.parametrize(("state", "event"), [*product(ReplicaState, ReplicaEvent)])
def test_what_is_not_in_the_table_is_an_error(state: ReplicaState, event: ReplicaEvent) -> None:
    if (state, event) in TRANSITIONS:
        assert after(state, event) is TRANSITIONS[state, event]
    else:
        with pytest.raises(IllegalStep, match=f"{state} cannot be {event}") as caught:
            after(state, event)
        assert (caught.value.state, caught.value.event) == (state, event)


def test_nothing_leaves_the_end_and_a_failure_is_only_cleared_away() -> None:
    assert not [event for state, event in TRANSITIONS if state is ReplicaState.STOPPED]
    assert [event for state, event in TRANSITIONS if state is ReplicaState.FAILED] == [ReplicaEvent.STOPPED]


def test_a_replica_that_serves_is_never_stopped_without_a_drain() -> None:
    assert (ReplicaState.READY, ReplicaEvent.STOPPED) not in TRANSITIONS


def test_a_replica_becomes_ready_only_warm_or_because_a_drain_is_taken_back() -> None:
    ways = {step for step, end in TRANSITIONS.items() if end is ReplicaState.READY}
    assert ways == {(ReplicaState.WARMING, ReplicaEvent.WARMED), (ReplicaState.DRAINING, ReplicaEvent.KEPT)}


def test_every_living_state_may_fail() -> None:
    living = set(ReplicaState) - {ReplicaState.STOPPED, ReplicaState.FAILED}
    assert {state for state, event in TRANSITIONS if event is ReplicaEvent.FAILED} == living


@pytest.mark.parametrize("state", DEADLINES)
def test_whoever_is_on_its_way_for_too_long_is_given_up_with_a_reason(state: ReplicaState) -> None:
    limit = DEADLINES[state]
    assert overdue(state, since=100.0, now=100.0 + limit.seconds) is None
    assert overdue(state, since=100.0, now=100.1 + limit.seconds) == limit.reason


def test_only_what_is_on_its_way_has_a_deadline_here() -> None:
    assert set(DEADLINES) == ON_THEIR_WAY
    assert overdue(ReplicaState.READY, since=0.0, now=1e9) is None
    assert overdue(ReplicaState.DRAINING, since=0.0, now=1e9) is None
