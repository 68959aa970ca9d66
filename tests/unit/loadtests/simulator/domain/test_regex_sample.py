"""What is made matches the expression it was made from, as Python's own engine judges it."""

import re

import pytest

from loadtests.domain.dice import Dice
from loadtests.simulator.domain.regex_sample import UnsupportedPattern, sample


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[A-Z]{2,4}-\d{3}$",
        r"(ab|cd)+x?",
        r"[^a-z]+",
        r"\w+@\w+\.(com|org)",
        r"[一-龥]{2,5}",
        r"[\w-]{3}",
        r"a{2,}",
        r"a{3}",
        r"^(?:yes|no)$",
        r"[]a]",
        r"\u4e00x",
        r"[\u4e00-\u9fa5]",
        r"a*b+?c??",
        r".\.\n\t",
        r"\bword\b",
        r"[\]\-x]",
        r"\D\S\W\s",
        r"[a-]",
        "",
        r"a|",
        r"x{0}y",
    ],
)
def test_a_sample_matches(pattern: str) -> None:
    for seed in range(60):
        text = sample(pattern, Dice(seed, pattern))
        assert re.search(pattern, text), text


def test_an_anchored_sample_holds_nothing_else() -> None:
    texts = {sample(r"^(red|green|blue)$", Dice(seed, "")) for seed in range(40)}
    assert texts == {"red", "green", "blue"}


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)", "(a", "a)", "*a", r"\1", "a{x}", "a{2", "a{1,x}", "[a", "\\", r"[^\w\s.,\-]", "a{,2}", "(a{9000}){9000}"],
)
def test_what_cannot_be_read_is_said_to_be_so(pattern: str) -> None:
    with pytest.raises(UnsupportedPattern):
        sample(pattern, Dice(0, ""))
