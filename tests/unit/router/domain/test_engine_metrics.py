"""The figures in an engine's Prometheus page."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.engine_metrics import EngineMetrics, read_metrics

RECORDED = Path(__file__).parents[3] / "contract/simulator/recordings/metrics.prom"
LABELS = '{engine="0",model_name="m"}'


def test_a_real_page_of_vllm_tells_everything() -> None:
    told = read_metrics(RECORDED.read_text())
    assert (told.running, told.waiting, told.kv_usage, told.has_prefix_cache) == (0, 0, 0.0, True)
    assert told.kv_capacity_tokens == 46_592
    assert told.tokens_total
    assert told.tokens_total > 0


def test_an_empty_page_tells_nothing_and_nothing_is_not_zero() -> None:
    assert read_metrics("") == EngineMetrics()
    assert read_metrics("# HELP vllm:num_requests_running x\npython_info 1\n") == EngineMetrics()


def test_several_engines_of_one_replica_are_summed_and_the_fullest_counts() -> None:
    page = "\n".join(
        [
            'vllm:num_requests_running{engine="0"} 3.0',
            'vllm:num_requests_running{engine="1"} 4.0',
            'vllm:kv_cache_usage_perc{engine="0"} 0.25',
            'vllm:kv_cache_usage_perc{engine="1"} 0.75',
            'vllm:cache_config_info{engine="0",kv_cache_size_tokens="100"} 1.0',
            'vllm:cache_config_info{engine="1",kv_cache_size_tokens="100"} 1.0',
        ]
    )
    assert read_metrics(page) == EngineMetrics(running=7, kv_usage=0.75, kv_capacity_tokens=200)


def test_a_longer_name_is_another_metric() -> None:
    page = f'vllm:num_requests_waiting_by_reason{{reason="capacity"}} 9\nvllm:num_requests_waiting{LABELS} 2\n'
    assert read_metrics(page).waiting == 2


def test_a_name_within_a_line_is_no_sample() -> None:
    assert read_metrics("# TYPE vllm:num_requests_running gauge\nx vllm:num_requests_running 5\n") == EngineMetrics()


def test_a_label_may_hold_braces_quotes_and_spaces() -> None:
    page = 'vllm:num_requests_running{model_name="a}b \\" {c",engine="0"} 5.0 1700000000'
    assert read_metrics(page).running == 5


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "many", ""])
def test_nonsense_is_an_unknown_figure(value: str) -> None:
    assert read_metrics(f"vllm:num_requests_running{LABELS} {value}\n") == EngineMetrics()


@pytest.mark.parametrize(
    ("labels", "capacity"),
    [
        ('kv_cache_size_tokens="46592"', 46_592),
        ('kv_cache_size_tokens="None",block_size="16",num_gpu_blocks="100"', 1_600),
        ('block_size="16",num_gpu_blocks="100"', 1_600),
        ('block_size="16",num_gpu_blocks="None"', None),
        ('num_gpu_blocks="100"', None),
        ('kv_cache_size_tokens="²"', None),
    ],
)
def test_the_capacity_is_told_whole_or_in_blocks(labels: str, capacity: int | None) -> None:
    assert read_metrics(f"vllm:cache_config_info{{{labels}}} 1.0").kv_capacity_tokens == capacity


@pytest.mark.parametrize(("told", "has_it"), [("True", True), ("False", False)])
def test_the_prefix_cache_is_told(told: str, has_it: bool) -> None:
    page = f'vllm:cache_config_info{{enable_prefix_caching="{told}"}} 1.0'
    assert read_metrics(page).has_prefix_cache is has_it


def test_tokens_read_and_written_are_one_figure() -> None:
    page = f"vllm:prompt_tokens_total{LABELS} 1.2e+03\nvllm:generation_tokens_total{LABELS} 34.0\n"
    assert read_metrics(page).tokens_total == 1_234


def test_sglang_names_its_figures_otherwise() -> None:
    page = "\n".join(
        [
            'sglang:num_running_reqs{model_name="m"} 2.0',
            'sglang:num_queue_reqs{model_name="m"} 1.0',
            'sglang:token_usage{model_name="m"} 0.5',
            'sglang:max_total_num_tokens{model_name="m"} 9000.0',
        ]
    )
    assert read_metrics(page) == EngineMetrics(running=2, waiting=1, kv_usage=0.5, kv_capacity_tokens=9_000)


def test_llama_cpp_names_its_figures_otherwise() -> None:
    page = "llamacpp:requests_processing 2\nllamacpp:requests_deferred 1\nllamacpp:kv_cache_usage_ratio 0.5\n"
    assert read_metrics(page) == EngineMetrics(running=2, waiting=1, kv_usage=0.5)


@given(st.text(max_size=300))
def test_no_page_is_too_strange(page: str) -> None:
    read_metrics(page)
    read_metrics(f"vllm:num_requests_running{page}")
    read_metrics(f"vllm:cache_config_info{{{page}")


@pytest.mark.parametrize(
    "page",
    [
        'vllm:num_requests_running{a="1"} 1e308\nvllm:num_requests_running{a="2"} 1.7e308\n',
        'vllm:cache_config_info{kv_cache_size_tokens="' + "9" * 5_000 + '"} 1\n',
        'vllm:cache_config_info{block_size="16",num_gpu_blocks="' + "9" * 5_000 + '"} 1\n',
        "vllm:kv_cache_usage_perc 1e300\n",
        "vllm:num_requests_running" + "{" * 1_000_000 + " 1\n",
        "vllm:num_requests_running{" + '"\\"' * 300_000 + " 1\n",
        "vllm:cache_config_info{" + "a" * 1_000_000 + "\n",
        "vllm:cache_config_info{" + 'a="\\"' * 300_000 + "\n",
    ],
    ids=range(8),
)
def test_no_number_is_too_large_and_no_line_too_long(page: str) -> None:
    told = read_metrics(page)
    assert (told.running, told.kv_usage, told.kv_capacity_tokens) == (None, None, None)
