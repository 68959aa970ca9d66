"""Names, types, labels, buckets and help are those of the recorded page; the values are the engine's."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.simulator.domain.exposition import Subject, exposition
from loadtests.simulator.domain.figures import Distributions, Figures
from loadtests.simulator.domain.generation import FinishReason

RECORDED = Path("tests/contract/simulator/recordings/metrics.prom").read_text("utf-8")
SUBJECT = Subject(model="smollm2", created_s=5.0, cache={"block_size": "16"})


def page(figures: Figures = Figures()) -> str:  # noqa: B008  frozen
    return exposition(SUBJECT, figures)


def lines(text: str, mark: str) -> set[str]:
    return {line for line in text.splitlines() if line.startswith(mark)}


def samples(text: str) -> set[str]:
    """Names with their labels, without values."""
    found = (line.rpartition(" ")[0] for line in lines(text, "vllm:"))
    return {name for name in found if not name.startswith("vllm:cache_config_info")}


@pytest.mark.parametrize("mark", ["# TYPE vllm:", "# HELP vllm:"])
def test_types_and_help_are_the_recorded_ones(mark: str) -> None:
    assert lines(page(), mark) == lines(RECORDED, mark)


def test_samples_with_their_labels_and_buckets_are_the_recorded_ones() -> None:
    assert samples(page()) == samples(RECORDED)


def test_every_line_can_be_read() -> None:
    pattern = re.compile(r"(# (HELP|TYPE) vllm:\S+ .+|vllm:\w+\{[^}]*\} \S+)")
    assert [line for line in page().splitlines() if not pattern.fullmatch(line)] == []


def test_values_are_the_engine_s() -> None:
    figures = replace(
        Figures(),
        running=2,
        waiting=3,
        kv_usage=0.5,
        prompt_tokens=100,
        cached_tokens=64,
        rejected=4,
        finished={FinishReason.STOP: 7},
    )
    text = page(figures)
    for expected in (
        'vllm:num_requests_running{engine="0",model_name="smollm2"} 2.0',
        'vllm:num_requests_waiting_by_reason{engine="0",model_name="smollm2",reason="capacity"} 3.0',
        'vllm:kv_cache_usage_perc{engine="0",model_name="smollm2"} 0.5',
        'vllm:prompt_tokens_by_source_total{engine="0",model_name="smollm2",source="local_compute"} 36.0',
        'vllm:request_success_total{engine="0",finished_reason="stop",model_name="smollm2"} 7.0',
        'vllm:admission_rejections_total{model_name="smollm2",reason="max_num_queued_reqs"} 4.0',
        'vllm:prompt_tokens_created{engine="0",model_name="smollm2"} 5.0',
        'vllm:cache_config_info{block_size="16",engine="0"} 1.0',
    ):
        assert expected in text.splitlines()


@pytest.mark.parametrize(
    ("level", "states"),
    [(None, (1.0, 0.0, 0.0)), (0, (0.0, 0.0, 0.0)), (1, (0.0, 1.0, 0.0)), (2, (0.0, 0.0, 1.0))],
)
def test_sleep_is_told_by_its_level(level: int | None, states: tuple[float, ...]) -> None:
    text = page(replace(Figures(), sleep_level=level))
    names = ("awake", "weights_offloaded", "discard_all")
    for name, value in zip(names, states, strict=True):
        assert f'sleep_state="{name}"}} {value}' in text


def test_buckets_add_up() -> None:
    seen = Distributions()
    for seconds in (0.0005, 0.03, 0.03, 9999.0):
        seen.first_token_s.observe(seconds)
    text = page(replace(Figures(), distributions=seen))
    counts = {
        found[1]: float(found[2])
        for found in re.finditer(r'vllm:time_to_first_token_seconds_bucket\{engine="0",le="([^"]+)",\S+ (\S+)', text)
    }
    assert (counts["0.001"], counts["0.02"], counts["0.04"], counts["2560.0"], counts["+Inf"]) == (1, 1, 3, 3, 4)


def test_a_name_with_quotes_is_escaped() -> None:
    assert r'model_name="a\"b\\c\n"' in exposition(replace(SUBJECT, model='a"b\\c\n'), Figures())
