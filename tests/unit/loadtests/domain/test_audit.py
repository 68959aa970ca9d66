"""What is missing in a record, there too often, or changed."""

import pytest

from loadtests.domain.audit import Audit, audited
from loadtests.domain.rows import Row
from tests.support.load_rows import a_failed_turn, a_session, a_turn

RECORD = [(1, "d-1"), (2, "d-2"), (3, "d-3")]


def test_a_record_of_all_that_was_heard_is_whole() -> None:
    assert audited(a_session(3), RECORD) == Audit(lost=0, doubled=0, altered=0)


@pytest.mark.parametrize(
    ("record", "found"),
    [
        ([(1, "d-1"), (3, "d-3")], Audit(lost=1, doubled=0, altered=0)),
        ([], Audit(lost=3, doubled=0, altered=0)),
        ([*RECORD, (3, "d-3")], Audit(lost=0, doubled=1, altered=0)),
        ([*RECORD, (4, "d-3")], Audit(lost=0, doubled=1, altered=0)),
        ([(1, "d-1"), (2, "other"), (3, "d-3")], Audit(lost=0, doubled=0, altered=1)),
        ([(1, "d-1"), (2, "other")], Audit(lost=1, doubled=0, altered=1)),
    ],
)
def test_each_kind_of_damage_is_told_apart(record: list[tuple[int, str]], found: Audit) -> None:
    assert audited(a_session(3), record) == found


@pytest.mark.parametrize("unheard", [a_failed_turn(2), a_turn(2, finish="cancelled", text_digest="half")])
@pytest.mark.parametrize("record", [[(1, "d-1")], [(1, "d-1"), (2, "whole")]])
def test_what_was_not_acknowledged_may_be_there_or_not(unheard: Row, record: list[tuple[int, str]]) -> None:
    assert audited([a_turn(1), unheard], record) == Audit(lost=0, doubled=0, altered=0)


def test_a_turn_that_failed_may_give_its_number_to_the_next() -> None:
    turns = [a_turn(1), a_failed_turn(2), a_turn(3, stored_as=2)]
    assert audited(turns, [(1, "d-1"), (2, "d-3")]) == Audit(lost=0, doubled=0, altered=0)


def test_where_no_number_was_told_that_of_the_timetable_counts() -> None:
    assert audited([a_turn(1, stored_as=None)], [(1, "d-1")]) == Audit(lost=0, doubled=0, altered=0)


def test_what_was_let_in_beside_the_turns_is_no_turn_too_many() -> None:
    assert audited(a_session(3), [*RECORD, (4, "x")], beside=1) == Audit(lost=0, doubled=0, altered=0)
    assert audited(a_session(3), [*RECORD, (4, "x"), (5, "x")], beside=1).doubled == 1


def test_a_turn_that_failed_hides_no_other_that_was_stored_twice() -> None:
    turns = [a_turn(1), a_failed_turn(2, stored_as=2), a_turn(3, stored_as=3)]
    assert audited(turns, [(1, "d-1"), (3, "d-3"), (4, "d-3")]) == Audit(lost=0, doubled=1, altered=0)
    refused = [a_turn(1), a_failed_turn(2), a_failed_turn(3)]
    assert audited(refused, [(1, "d-1"), (2, "x"), (3, "x")]).doubled == 0
    assert audited(refused, [(1, "d-1"), (2, "x"), (3, "x"), (4, "x")]).doubled == 1
