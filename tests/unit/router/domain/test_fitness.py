"""Whether a replica is the one meant, and what an operator is told."""

import pytest

from router.domain.engine_metrics import EngineMetrics
from router.domain.exchange import Message
from router.domain.fitness import (
    Expectation,
    TokenSample,
    cache_warning,
    count_misfit,
    expected_of,
    models_misfit,
    pools_misfit,
    version_misfit,
    version_warning,
    window_misfit,
)

SAMPLE = TokenSample((Message("user", "hello"),), 9)
WANTED = Expectation("smollm2", 4096, (SAMPLE,))


def test_whoever_lists_what_is_wanted_fits() -> None:
    assert models_misfit({"smollm2"}, {"other", "smollm2"}) is None


def test_wanting_none_in_particular_is_wanting_any() -> None:
    assert models_misfit((), {"other"}) is None


def test_another_model_is_named_with_the_one_that_was_meant() -> None:
    assert models_misfit({"smollm2"}, {"b", "a"}) == "serves a, b instead of smollm2"


def test_of_several_wanted_models_the_missing_ones_are_named() -> None:
    assert models_misfit({"a", "c", "d"}, {"a"}) == "serves a instead of c, d"


@pytest.mark.parametrize(("wanted", "said"), [((), "serves no model"), ({"a"}, "serves no model instead of a")])
def test_no_model_at_all_is_said(wanted: set[str], said: str) -> None:
    assert models_misfit(wanted, ()) == said


def test_a_replica_is_judged_by_the_expectation_of_each_pool_it_belongs_to() -> None:
    other = Expectation("qwen", 8192, ())
    assert expected_of((WANTED, other), {"qwen", "lora"}) == (other,)
    assert expected_of((WANTED, other), {"qwen", "smollm2"}) == (WANTED, other)
    assert expected_of((WANTED, other), {"lora"}) == ()


def test_a_replica_of_no_expected_pool_is_told_which_there_are() -> None:
    other = Expectation("qwen", 8192, ())
    assert pools_misfit((WANTED, other), {"y", "x"}) == "serves x, y instead of smollm2 or qwen"
    assert pools_misfit((WANTED,), ()) == "serves no model instead of smollm2"


def test_the_window_that_is_needed_fits() -> None:
    assert window_misfit(WANTED, {"smollm2": 4096}, must_tell=True) is None


def test_a_short_window_is_given_in_figures() -> None:
    said = window_misfit(WANTED, {"smollm2": 2048}, must_tell=True)
    assert said == "has a window of 2048 tokens; 4096 are needed"


def test_an_engine_that_should_tell_its_window_and_does_not_is_refused() -> None:
    assert window_misfit(WANTED, {"smollm2": None}, must_tell=True) == (
        "does not tell its window; 4096 tokens are needed"
    )
    assert window_misfit(WANTED, {"smollm2": None}, must_tell=False) is None


def test_the_same_count_fits() -> None:
    assert count_misfit(SAMPLE, 9) is None


def test_another_count_names_both() -> None:
    assert count_misfit(SAMPLE, 11) == ("counts 11 tokens in a sample that has 9: another tokenizer or chat template")


@pytest.mark.parametrize("version", ["0.32.0", "0.10.2", "0.11.1rc2.dev7+gabc", "1.0"])
def test_a_version_that_knows_everything_passes_in_silence(version: str) -> None:
    assert (version_misfit(version), version_warning(version)) == (None, None)


@pytest.mark.parametrize("version", ["0.5.4", "0.4"])
def test_a_version_that_cannot_continue_is_refused_with_those_that_can(version: str) -> None:
    said = version_misfit(version)
    assert said is not None
    assert said.startswith(f"is vLLM {version}, which cannot continue")
    assert "known good: 0.32" in said


@pytest.mark.parametrize("version", ["0.6.0", "0.10.1", "0.9.2"])
def test_a_version_that_knows_less_is_warned_of(version: str) -> None:
    assert version_misfit(version) is None
    assert "token ids" in (version_warning(version) or "")


@pytest.mark.parametrize("version", [None, "", "dev", "main-2af0b41f"])
def test_an_unknown_version_may_serve_and_is_warned_of(version: str | None) -> None:
    assert version_misfit(version) is None
    assert "does not tell which vLLM" in (version_warning(version) or "")


def test_only_a_cache_that_is_known_to_be_off_is_warned_of() -> None:
    assert "--enable-prefix-caching" in (cache_warning(EngineMetrics(has_prefix_cache=False)) or "")
    assert cache_warning(EngineMetrics(has_prefix_cache=True)) is None
    assert cache_warning(EngineMetrics()) is None
