"""A metrics page is read by vLLM's names."""

import math

import pytest

from loadtests.domain.engine_metrics import EngineLoad, engine_load

PAGE = """# HELP vllm:kv_cache_usage_perc KV-cache usage. 1 means 100 percent usage.
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="a model"} 0.25
vllm:num_requests_running{engine="0",model_name="a model"} 3.0
vllm:num_requests_waiting{engine="0",model_name="a model"} 1.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="a model",reason="capacity"} 1.0
vllm:num_preemptions_total{engine="0",model_name="a model"} 2.0
vllm:num_preemptions_created{engine="0",model_name="a model"} 1.7e+09
vllm:prefix_cache_queries_total{engine="0",model_name="a model"} 4000.0
vllm:prefix_cache_hits_total{engine="0",model_name="a model"} 3200.0
vllm:prompt_tokens_total{engine="0",model_name="a } model"} 4000.0 1733000000000
vllm:generation_tokens_total 120
process_cpu_seconds_total 12
"""


def test_every_figure_is_found_by_its_name() -> None:
    assert engine_load(PAGE) == EngineLoad(
        kv_usage=0.25,
        running=3,
        waiting=1,
        preemptions=2,
        prefix_queried=4000,
        prefix_hit=3200,
        prompt_tokens=4000,
        generation_tokens=120,
    )


def test_several_engines_are_summed_and_the_fullest_counts() -> None:
    more = 'vllm:kv_cache_usage_perc{engine="1"} 0.75\nvllm:num_requests_running{engine="1"} 4\n'
    both = engine_load(PAGE + more)
    assert (both.kv_usage, both.running) == (0.75, 7)


def test_a_page_of_something_else_says_nothing() -> None:
    assert engine_load("<html></html>\n\nvllm:\nvllm:other 1") == EngineLoad()


@pytest.mark.parametrize("value", ["", " ", " NaN", " x", " -1", " +Inf", f" {math.inf}"])
def test_a_figure_that_cannot_be_is_left_out(value: str) -> None:
    assert engine_load(f"vllm:num_requests_running{value}\n").running is None
