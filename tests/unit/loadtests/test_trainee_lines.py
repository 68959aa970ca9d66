"""Trainees say something every time, and not all the same."""

from loadtests.trainee_lines import LINES, line


def test_every_turn_has_a_line_and_neighbours_begin_differently() -> None:
    assert all(line(trainee, turn) in LINES for trainee in range(30) for turn in range(60))
    assert len({line(trainee, 1) for trainee in range(len(LINES))}) == len(LINES)
