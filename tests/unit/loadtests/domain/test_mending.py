"""A fault is over once its own target answers again."""

import pytest

from loadtests.domain.mending import mended_at
from loadtests.domain.server import Event, EventKind

KILLED = Event(at_s=10, kind=EventKind.FAULT, target="replica-1", note="kill")


def mended(at_s: float, note: str = "", *, target: str = "replica-1", kind: EventKind = EventKind.MENDED) -> Event:
    return Event(at_s=at_s, kind=kind, target=target, note=note)


@pytest.mark.parametrize(
    "events",
    [
        [],
        [mended(9.9, "kill after 1.0 s")],
        [mended(12, "kill after 2.0 s", target="replica-2")],
        [mended(12, "slow after 4.0 s")],
        [mended(12, "kill", kind=EventKind.FAULT)],
    ],
)
def test_what_happened_before_or_to_others_mends_nothing(events: list[Event]) -> None:
    assert mended_at(KILLED, events) is None


@pytest.mark.parametrize("note", ["kill after 0.0 s", ""])
def test_the_first_time_that_it_answers_counts(note: str) -> None:
    events = [mended(40, "kill after 30.0 s"), mended(10, note), mended(9, note)]
    assert mended_at(KILLED, events) == 10
