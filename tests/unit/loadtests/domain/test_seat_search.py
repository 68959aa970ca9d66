import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.seat_search import Trial, next_seats, proven


def searched(true_seats: int, *, first: int, most: int) -> list[Trial]:
    trials = [Trial(seats=first, held=first <= true_seats)]
    while (seats := next_seats(trials, most=most)) is not None:
        assert seats not in {each.seats for each in trials}
        trials.append(Trial(seats=seats, held=seats <= true_seats))
    return trials


@given(st.integers(0, 2000), st.integers(1, 2000))
def test_it_comes_within_5_percent_of_what_a_fleet_holds(true_seats: int, first: int) -> None:
    found = proven(searched(true_seats, first=first, most=3000))
    assert found <= true_seats
    assert true_seats - found <= max(1, 0.05 * found)


@given(st.integers(0, 2000), st.integers(1, 2000))
def test_few_classes_are_needed(true_seats: int, first: int) -> None:
    assert len(searched(true_seats, first=first, most=3000)) <= 30


def test_no_class_is_larger_than_allowed() -> None:
    trials = searched(10_000, first=100, most=250)
    assert [each.seats for each in trials] == [100, 150, 225, 250]
    assert proven(trials) == 250


def test_a_fleet_that_holds_nobody_has_no_seat() -> None:
    assert proven(searched(0, first=8, most=20)) == 0


@pytest.mark.parametrize(
    ("played", "seats"), [([(100, True)], 150), ([(100, False)], 50), ([(100, True), (150, False)], 125), ([], 1)]
)
def test_what_is_played_next(played: list[tuple[int, bool]], seats: int) -> None:
    assert next_seats([Trial(seats=each, held=held) for each, held in played], most=1000) == seats


def test_what_held_beyond_a_class_that_missed_does_not_count() -> None:
    trials = [Trial(seats=100, held=False), Trial(seats=120, held=True), Trial(seats=50, held=True)]
    assert proven(trials) == 50
