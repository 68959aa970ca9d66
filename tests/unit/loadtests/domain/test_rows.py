"""What a row tells of one request."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.rows import Kind, row_of
from tests.support.load_rows import A_TURN, a_failed_turn, a_turn

FINITE = st.floats(-1e9, 1e9)


def test_times_count_from_the_first_byte_and_from_the_plan() -> None:
    turn = a_turn(at_s=10.0, late_s=3.0)
    assert turn.ttft_s == 0.5
    assert turn.ttft_planned_s == 3.5
    assert turn.e2e_s == 2.5
    assert turn.tpot_s == pytest.approx(0.2)


def test_whoever_was_sent_too_early_does_not_gain_by_it() -> None:
    assert a_turn(at_s=10.0, late_s=-1.0).ttft_planned_s == 0.5


def test_what_never_came_has_no_time() -> None:
    turn = a_failed_turn()
    assert (turn.ttft_s, turn.ttft_planned_s, turn.e2e_s, turn.tpot_s) == (None, None, None, None)


def test_a_reply_of_one_token_has_no_time_per_token() -> None:
    assert a_turn(completion_tokens=1).tpot_s is None


def test_stopped_by_its_trainee_is_no_failure() -> None:
    assert a_turn(finish="cancelled").was_cancelled
    assert not a_turn(finish="cancelled", failure="timeout").was_cancelled
    assert not a_turn().was_cancelled


def test_what_had_to_be_refused_was_by_a_status_or_a_cut() -> None:
    assert a_turn(kind=Kind.HOSTILE, status=400).was_refused
    assert a_turn(kind=Kind.HOSTILE, status=None).was_refused
    assert not a_turn(kind=Kind.HOSTILE, status=200).was_refused
    assert not a_turn(kind=Kind.HOSTILE, status=500, failure="http_500").was_refused
    assert not a_turn(status=400).was_refused


@given(st.builds(a_turn, at_s=FINITE, gaps_s=st.lists(FINITE).map(tuple), note=st.text()))
def test_a_row_is_read_back_as_it_was_written(row: object) -> None:
    assert row_of(row.as_json()) == row  # type: ignore[attr-defined]


def test_the_record_of_an_audit_is_read_back() -> None:
    audit = a_turn(kind=Kind.AUDIT, stored=((1, "d-1"), (2, "d-2")))
    assert row_of(audit.as_json()) == audit


@pytest.mark.parametrize(
    "line",
    [
        "",
        "7",
        "{",
        '{"kind": "turn"}',
        json.dumps({**json.loads(A_TURN.as_json()), "kind": "nap"}),
        json.dumps({**json.loads(A_TURN.as_json()), "stored": 7}),
        json.dumps({**json.loads(A_TURN.as_json()), "words": "said"}),
        json.dumps({"worker": 1}),
    ],
)
def test_anything_else_is_no_row(line: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  whatever is said: the line is skipped
        row_of(line)
