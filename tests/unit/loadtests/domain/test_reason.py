"""What is known of a run, and how much a reason weighs."""

from dataclasses import replace

import pytest

from loadtests.domain.drill import Drill
from loadtests.domain.figures import Figures
from loadtests.domain.reason import Aftermath, Cause, Reason, Seen, overlaps, refusal
from loadtests.domain.rows import Kind, Row
from loadtests.domain.server import Event, EventKind

ROW = Row(
    kind=Kind.TURN, worker=0, trainee=0, session="s", turn=1, planned_s=0, started_s=0, first_s=0.5, last_s=1, ended_s=1
)


def test_a_session_that_could_not_be_opened_is_a_failed_turn_and_other_requests_are_none() -> None:
    rows = [
        ROW,
        replace(ROW, kind=Kind.OPEN),
        replace(ROW, kind=Kind.OPEN, failure="http_503"),
        replace(ROW, kind=Kind.HOSTILE, failure="let_in"),
        replace(ROW, first_s=3, last_s=4),
    ]
    seen = Seen(drill=Drill(), figures=Figures(turns=3), rows=rows)
    assert seen.turns == [rows[0], rows[2], rows[4]]
    assert seen.spoiled == [rows[2], rows[4]]


def test_a_share_is_of_all_turns_and_never_more() -> None:
    seen = Seen(drill=Drill(), figures=Figures(turns=4))
    assert seen.share([ROW]) == pytest.approx(0.25)
    assert seen.share(9) == 1
    assert Seen(drill=Drill(), figures=Figures()).share(9) == 0


def test_a_fault_is_over_some_time_after_its_own_target_answers_again() -> None:
    events = [
        Event(at_s=-5, kind=EventKind.BELL),
        Event(at_s=2, kind=EventKind.MENDED, target="a"),
        Event(at_s=10, kind=EventKind.FAULT, target="a", note="kill"),
        Event(at_s=11, kind=EventKind.MENDED, target="b"),
        Event(at_s=14, kind=EventKind.MENDED, target="a"),
        Event(at_s=17, kind=EventKind.MENDED, target="a"),
        Event(at_s=20, kind=EventKind.FAULT, target="c", note="freeze"),
    ]
    first, second = Seen(drill=Drill(), figures=Figures(), events=events).troubles
    assert (first.event.at_s, first.mended_s, first.until_s) == (10, 14, 24)
    assert second.mended_s is None
    row = replace(ROW, started_s=8, ended_s=9)
    assert not overlaps(row, first)
    assert overlaps(replace(row, ended_s=10), first)
    assert overlaps(replace(row, started_s=24, ended_s=30), first)
    assert not overlaps(replace(row, started_s=24.1, ended_s=30), first)
    assert overlaps(replace(row, started_s=1e6, ended_s=1e6), second)
    seen = Seen(drill=Drill(), figures=Figures(), events=events)
    assert seen.trouble_of(row) is None
    assert seen.trouble_of(replace(row, started_s=15, ended_s=16)) == first
    assert seen.trouble_of(replace(row, started_s=15, ended_s=21)) == second
    assert seen.trouble_of(replace(row, started_s=15, ended_s=21, replica="a")) == first


def test_what_lies_within_a_fault_is_left_out_of_the_calm() -> None:
    events = [Event(at_s=10, kind=EventKind.FAULT, target="a")]
    seen = Seen(drill=Drill(), figures=Figures(turns=1), events=events)
    late = replace(ROW, started_s=11, ended_s=12)
    assert seen.outside_faults([ROW, late]) == [ROW]


@pytest.mark.parametrize(
    ("note", "target", "expected"),
    [("kill", "replica-1", "kill of replica-1"), ("gateway-kill", "gateway", "gateway-kill"), ("flush", "", "flush")],
)
def test_a_fault_is_named_after_what_was_done_and_to_whom(note: str, target: str, expected: str) -> None:
    fault = Event(at_s=0, kind=EventKind.FAULT, note=note, target=target)
    assert Aftermath(fault, None, 0).name == expected


@pytest.mark.parametrize(
    ("failure", "note", "expected"),
    [
        ("http_503", "no_replica", "no_replica"),
        ("http_503", "", "http_503"),
        (None, "no_room", "no_room"),
        (None, "", ""),
        ("timeout", "no_room", "timeout"),
        ("http_400", "by_letters 400", "http_400"),
        (None, "by_letters no_room session_busy cut", "session_busy"),
    ],
)
def test_a_refusal_is_told_by_its_code(failure: str | None, note: str, expected: str) -> None:
    assert refusal(replace(ROW, failure=failure, note=note)) == expected


def test_a_cause_weighs_more_than_its_consequence_and_a_late_client_more_than_all() -> None:
    queue = Reason(cause=Cause.QUEUE, says="", share=1.0)
    window = Reason(cause=Cause.WINDOW, says="", share=0.2)
    client = Reason(cause=Cause.CLIENT, says="", share=0.01)
    assert client.weight > window.weight > queue.weight > 0
    assert window.as_json() == {"cause": "the window overflowed", "says": "", "evidence": [], "share": 0.2}
