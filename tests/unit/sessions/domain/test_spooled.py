"""What becomes of a turn that waited for the records."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.session import Session, with_turn
from sessions.domain.spooled import Fate, SpooledTurn, ahead, chain, fate
from tests.support.records_world import session, turn

ROW = session()


def spooled(number: int, *, text: str = "") -> SpooledTurn:
    before = row_with(number - 1)
    made = turn(number)
    return SpooledTurn(before, replace(made, text=text or made.text))


def row_with(turns: int) -> Session:
    return replace(ROW, version=1 + turns, turn_count=turns)


@pytest.mark.parametrize(
    ("row", "stored", "expected"),
    [
        (row_with(2), turn(2), Fate.WRITTEN),
        (row_with(5), turn(2), Fate.WRITTEN),
        (row_with(0), None, Fate.EARLY),
        (row_with(2), replace(turn(2), text="another"), Fate.CONFLICT),
        (row_with(2), replace(turn(2), reply="another"), Fate.CONFLICT),
        (row_with(1), None, Fate.CONFLICT),
        (None, None, Fate.CONFLICT),
    ],
)
def test_the_fate_of_the_second_turn(row: Session | None, stored: object, expected: Fate) -> None:
    assert fate(spooled(2), row, stored) is expected  # type: ignore[arg-type]  # a turn or None


@given(st.integers(0, 6), st.permutations(range(1, 7)))
def test_in_any_order_what_stands_behind_the_row_is_found(written: int, order: list[int]) -> None:
    waiting = [spooled(number) for number in order]
    assert [each.turn.number for each in chain(row_with(written), waiting)] == list(range(written + 1, 7))
    assert ahead(row_with(written), waiting) == row_with(6)


def test_nothing_behind_a_gap_counts() -> None:
    assert [each.turn.number for each in chain(row_with(0), [spooled(1), spooled(3)])] == [1]
    assert ahead(row_with(0), [spooled(3)]) == row_with(0)


def test_notes_are_counted_by_the_row() -> None:
    noted = replace(row_with(0), note_count=3)
    assert ahead(noted, [spooled(1)]) == replace(row_with(1), note_count=3)


def test_the_session_after_a_turn_is_one_version_on() -> None:
    assert spooled(1).after == with_turn(ROW)
