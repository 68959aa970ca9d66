"""Many looks become few points, and none of what matters is lost."""

from hypothesis import given
from hypothesis import strategies as st

from loadtests.report.thinning import MOST_POINTS, last, lines_of, most, thinned, thinning_note, width_for


def test_a_stretch_tells_the_most_or_the_last_of_it() -> None:
    points = [(0.0, 3.0), (0.9, 1.0), (1.0, 2.0), (1.5, None)]
    assert thinned(points, width=1, keep=most) == [(0, 3), (1, 2)]
    assert thinned(points, width=1, keep=last) == [(0, 1), (1, 2)]


def test_what_was_not_told_is_a_gap_and_a_look_that_was_missed_is_none() -> None:
    assert thinned([(0, 1.0), (1, None), (2, 1.0)], width=1, keep=most) == [(0, 1), (1, None), (2, 1)]
    assert thinned([(0, 1.0), (2, 1.0), (5, 1.0)], width=1, keep=most) == [(0, 1), (2, 1), (5, 1)]
    assert thinned([(0, 1.0), (4, 1.0)], width=1, keep=most) == [(0, 1), (1, None), (4, 1)]
    assert thinned([], width=1, keep=most) == []


@given(st.lists(st.floats(-100, 1e5), min_size=1), st.sampled_from([1.0, 4.0, 20.0]))
def test_stretches_are_few_and_the_highest_value_is_kept(times: list[float], least: float) -> None:
    width = width_for(times, least=least)
    assert width % least == 0
    points = [(at, abs(at)) for at in times]
    found = thinned(points, width=width, keep=most)
    assert len({at for at, value in found if value is not None}) <= MOST_POINTS + 1
    assert max(value for _, value in found if value is not None) == max(value for _, value in points)


def test_few_replicas_have_a_line_each_and_many_are_summed_up() -> None:
    few = lines_of({"a": [(0, 1.0)], "b": [(0, 2.0)]}, width=1, keep=most)
    assert [(line.name, line.points) for line in few] == [("a", [(0, 1)]), ("b", [(0, 2)])]
    looks = {f"r{number}": [(0.0, float(number)), (1.0, None)] for number in range(9)}
    many = lines_of(looks, width=1, keep=most)
    assert [(line.name, line.points) for line in many] == [
        ("highest of 9", [(0, 8), (1, None)]),
        ("mean of 9", [(0, 4), (1, None)]),
        ("lowest of 9", [(0, 0), (1, None)]),
    ]


def test_what_was_left_out_is_said() -> None:
    assert thinning_note(1, least=1, lines=8) == ""
    assert thinning_note(12, least=4, lines=9) == (
        "Each point stands for 12 s. There are 9 replicas: the highest, the mean and the lowest are shown."
    )
