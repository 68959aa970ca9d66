"""The week to try a plan on."""

from gateway.cli.example_week import example_week, moment


def test_the_night_of_the_change_is_an_hour_shorter() -> None:
    assert moment(6, (3, 15), "America/New_York") - moment(6, (1, 30), "America/New_York") == 45 * 60.0


def test_forty_classes_the_same_for_the_same_seed() -> None:
    assert len(example_week(7)) == 40
    assert example_week(7) == example_week(7)
    assert example_week(7) != example_week(8)
    assert all(8 <= booking.expected <= 60 for booking in example_week(7))
