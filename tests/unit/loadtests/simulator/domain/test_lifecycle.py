"""The table is all there is: every other pair of phase and event is an error."""

import pytest

from loadtests.simulator.domain.lifecycle import LOADING, TRANSITIONS, Event, IllegalTransition, Phase, after


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize("event", list(Event))
def test_every_pair_is_in_the_table_or_an_error(phase: Phase, event: Event) -> None:
    if (phase, event) in TRANSITIONS:
        assert after(phase, event) is TRANSITIONS[phase, event]
    else:
        with pytest.raises(IllegalTransition) as failure:
            after(phase, event)
        assert (failure.value.phase, failure.value.event) == (phase, event)


def test_loading_goes_through_its_phases_in_turn_and_then_the_replica_is_ready() -> None:
    phase, seen = Phase.IMPORTING, []
    while phase in LOADING:
        seen.append(phase)
        phase = after(phase, Event.NEXT)
    assert seen == list(LOADING)
    assert phase is Phase.READY


def test_the_phases_share_the_whole_time_to_load() -> None:
    assert sum(LOADING.values()) == pytest.approx(1)


def test_nothing_leaves_dead() -> None:
    assert not [event for phase, event in TRANSITIONS if phase is Phase.DEAD]


def test_what_loads_or_is_dead_is_not_up() -> None:
    up = {phase for phase in Phase if phase.is_up}
    assert up == {Phase.READY, Phase.PAUSED, Phase.ASLEEP, Phase.DRAINING}
