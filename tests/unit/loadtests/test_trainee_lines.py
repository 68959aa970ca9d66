"""Trainees say something every time, and not all the same."""

from loadtests.trainee_lines import LINES, line


def test_every_turn_has_a_line_and_neighbours_begin_differently() -> None:
    assert all(line(trainee, turn, run=1).startswith(LINES) for trainee in range(30) for turn in range(60))
    assert len({line(trainee, 1, run=1).partition(" My reference")[0] for trainee in range(len(LINES))}) == len(LINES)


def test_nobody_says_the_same_as_another_or_in_another_run_so_that_no_cache_knows_one_by_another() -> None:
    said = {line(trainee, turn, run=run) for run in (7, 99_999) for trainee in range(300) for turn in range(50)}
    assert len(said) == 2 * 300 * 50
