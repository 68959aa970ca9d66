"""The same again, in every process; and every side comes up."""

import subprocess
import sys
from collections import Counter

from loadtests.domain.dice import Dice


def throws(seed: int, text: str) -> list[int]:
    dice = Dice(seed, text)
    return [dice.below(6) for _ in range(20)]


def test_the_same_seed_and_text_throw_the_same() -> None:
    assert throws(7, "hello") == throws(7, "hello")


def test_another_seed_or_text_throws_something_else() -> None:
    assert len({tuple(throws(seed, text)) for seed in (7, 8) for text in ("hello", "hallo")}) == 4


def test_another_process_throws_the_same() -> None:
    code = "from loadtests.domain.dice import Dice; print(Dice(7, 'hello').below(1_000_000))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(said) == Dice(7, "hello").below(1_000_000)


def test_every_side_comes_up_about_as_often() -> None:
    dice = Dice(0, "fair")
    seen = Counter(dice.between(1, 6) for _ in range(6000))
    assert set(seen) == {1, 2, 3, 4, 5, 6}
    assert all(850 < count < 1150 for count in seen.values())


def test_one_of_the_choices_is_chosen() -> None:
    dice = Dice(0, "choices")
    assert {dice.one_of("abc") for _ in range(50)} == {"a", "b", "c"}


def test_text_with_half_a_character_in_it_has_a_throw_too() -> None:
    assert 0 <= Dice(0, "\ud800").below(10) < 10
