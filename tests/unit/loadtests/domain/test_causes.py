"""Reasons in what the trainees met."""

from dataclasses import replace

from loadtests.domain.causes import (
    affinity_missing,
    client_late,
    failed_otherwise,
    history_folded,
    let_in,
    record_differs,
    refused_at_first,
    window_overflowed,
    wrongly_blocked,
)
from loadtests.domain.drill import Affinity, Drill
from loadtests.domain.figures import Figures, Spread
from loadtests.domain.reason import Cause, Seen
from loadtests.domain.server import Event, EventKind
from tests.unit.loadtests.domain.test_reason import ROW

FINE = Seen(drill=Drill(), figures=Figures(turns=100, warm_turns=80), rows=[ROW] * 100)


def with_figures(**changes: object) -> Seen:
    return replace(FINE, figures=replace(FINE.figures, **changes))  # type: ignore[arg-type]  # fields by name


def test_nothing_is_found_where_nothing_is() -> None:
    for look in (
        client_late,
        window_overflowed,
        affinity_missing,
        history_folded,
        wrongly_blocked,
        record_differs,
        let_in,
        refused_at_first,
        failed_otherwise,
    ):
        assert not list(look(FINE))


def test_a_client_that_was_late_says_by_how_much() -> None:
    assert not list(client_late(with_figures(client_lag=Spread(count=9, p99=0.05))))
    (reason,) = client_late(with_figures(client_lag=Spread(count=9, p99=0.051)))
    assert reason.cause is Cause.CLIENT
    assert reason.evidence == ("client lag p99 51 ms, at most 50 ms",)


def test_refusals_for_their_length_name_the_first_turn_and_the_longest_prompt() -> None:
    rows = [
        replace(ROW, turn=7, prompt_tokens=4000),
        replace(ROW, turn=9, failure="http_400", note="context_length_exceeded"),
        replace(ROW, turn=8, failure="http_400"),
        replace(ROW, turn=2, failure="http_400", note="content_blocked"),
    ]
    (reason,) = window_overflowed(replace(FINE, rows=rows))
    assert reason.cause is Cause.WINDOW
    assert reason.says.startswith("2 turns were refused")
    assert reason.evidence == ("from turn 8 on", "the longest prompt that was taken had 4,000 tokens")
    assert reason.share == 0.02
    (unknown,) = window_overflowed(replace(FINE, rows=[replace(ROW, turn=None, failure="http_400")]))
    assert unknown.evidence == ()


def test_turns_by_chance_are_told_from_turns_that_moved_for_no_reason() -> None:
    moved = {"moved": 30, "evicted": 5, "folded": 20}
    (broken,) = affinity_missing(with_figures(cold=moved, affinity_broken=2))
    assert broken.says.startswith("Turns ran at another replica")
    assert broken.evidence[:2] == (
        "2 turns at another replica than the turn before",
        "30 of 80 later turns computed anew",
    )
    by_chance = replace(
        with_figures(cold=moved, prompt_tokens=10, cached_tokens=4), drill=Drill(affinity=Affinity.NONE)
    )
    (reason,) = affinity_missing(by_chance)
    assert reason.cause is Cause.AFFINITY
    assert "chosen by chance" in reason.says
    assert reason.evidence[1:] == ("35 of 80 later turns computed anew", "40% of prompt tokens cached")
    assert reason.share == 0.35


def test_turns_that_moved_because_their_replica_was_lost_are_no_lack_of_affinity() -> None:
    assert not list(affinity_missing(with_figures(cold={"moved": 30}, affinity_moved=30)))


def test_a_few_cold_turns_by_chance_are_no_reason() -> None:
    few = replace(with_figures(cold={"moved": 4}), drill=Drill(affinity=Affinity.NONE))
    assert not list(affinity_missing(few))


def test_folded_history_counts_from_a_twentieth_on() -> None:
    assert not list(history_folded(with_figures(cold={"folded": 4})))
    (reason,) = history_folded(with_figures(cold={"folded": 5}))
    assert reason.evidence == ("5 of 80 later turns cold for this reason",)


def test_blocks_a_false_record_and_what_was_let_in_are_told_with_their_counts() -> None:
    (blocked,) = wrongly_blocked(with_figures(false_blocks=3))
    assert blocked.says == "Moderation stopped 3 turns that are harmless."
    (record,) = record_differs(with_figures(lost_turns=1, doubled_turns=2, altered_turns=3))
    assert record.evidence == ("1 turns lost, 2 doubled, 3 altered",)
    assert record.share == 0.06
    (hostile,) = let_in(with_figures(let_in=2))
    assert hostile.says == "2 requests were answered that should have been refused."


def test_other_failures_are_told_by_their_kind_unless_a_fault_or_another_reason_has_them() -> None:
    rows = [
        replace(ROW, failure="timeout"),
        replace(ROW, failure="http_502"),
        replace(ROW, failure="timeout"),
        replace(ROW, failure="http_503", note="no_replica"),
        replace(ROW, failure="moderated"),
        replace(ROW, failure="no_end", started_s=50, ended_s=51),
    ]
    events = [Event(at_s=40, kind=EventKind.FAULT, target="gateway")]
    (reason,) = failed_otherwise(replace(FINE, rows=rows, events=events))
    assert reason.says == "3 turns failed, most of them with timeout."
    assert reason.evidence == ("2 with timeout", "1 with http_502")


def test_late_turns_that_were_sent_away_at_first_say_with_what() -> None:
    late = replace(ROW, first_s=4, last_s=5, ended_s=5)
    rows = [
        replace(late, note="records_unavailable session_busy"),
        replace(late, note="records_unavailable"),
        replace(late, note="no_replica"),
        replace(late, note="cut 503"),
        replace(late, note="records_unavailable", failure="no_end"),
        replace(ROW, note="records_unavailable"),
    ]
    (reason,) = refused_at_first(replace(FINE, rows=rows))
    assert reason.says == "2 late turns had been refused at first, most of them with records_unavailable."
    assert reason.evidence == ("2 with records_unavailable", "1 with session_busy")
    assert reason.share == 0.02
