"""Whether a replica is the one meant."""

from router.domain.exchange import Message
from router.domain.fitness import Expectation, TokenSample, count_misfit, model_misfit

SAMPLE = TokenSample((Message("user", "hello"),), 9)
WANTED = Expectation("smollm2", 4096, (SAMPLE,))


def test_the_right_model_with_window_enough_fits() -> None:
    assert model_misfit(WANTED, {"other": 100, "smollm2": 4096}) is None


def test_another_model_is_named_with_the_one_that_was_meant() -> None:
    assert model_misfit(WANTED, {"b": 1, "a": 1}) == "serves a, b instead of smollm2"


def test_no_model_at_all_is_said() -> None:
    assert model_misfit(WANTED, {}) == "serves no model instead of smollm2"


def test_a_short_window_is_given_in_figures() -> None:
    assert model_misfit(WANTED, {"smollm2": 2048}) == "has a window of 2048 tokens; 4096 are needed"


def test_the_same_count_fits() -> None:
    assert count_misfit(SAMPLE, 9) is None


def test_another_count_names_both() -> None:
    assert count_misfit(SAMPLE, 11) == ("counts 11 tokens in a sample that has 9: another tokenizer or chat template")
