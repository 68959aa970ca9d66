"""What several calls together show: what is cached and for whom, what a client that leaves frees, what metrics tell."""

import re
import time
from pathlib import Path
from uuid import uuid4

import httpx

from tests.contract.simulator.conftest import BLOCK_TOKENS, Subject

RECORDED_METRICS = (Path(__file__).parent / "recordings" / "metrics.prom").read_text("utf-8")
PATIENCE_S = 20.0


def ask(subject: Subject, messages: list[dict[str, str]], **fields: object) -> httpx.Response:
    body = {"model": "smollm2", "messages": messages, "temperature": 0, "max_tokens": 1, **fields}
    answer = subject.client.post("/v1/chat/completions", json=body)
    answer.raise_for_status()
    return answer


def counts(answer: httpx.Response) -> tuple[int, int, int]:
    """Prompt, cached and created tokens."""
    usage = answer.json()["usage"]
    details = usage["prompt_tokens_details"]
    return usage["prompt_tokens"], details["cached_tokens"], details["created_cache_tokens"]


def fresh(words: int = 300) -> list[dict[str, str]]:
    """A prompt that nobody has sent before."""
    return [{"role": "user", "content": f"{uuid4().hex} " + " ".join(f"point {n}," for n in range(words // 3))}]


def whole_blocks(tokens: int) -> int:
    return tokens // BLOCK_TOKENS * BLOCK_TOKENS


def metric(subject: Subject, name: str) -> float:
    page = subject.client.get("/metrics").text
    return float(next(line.rsplit(" ", 1)[1] for line in page.splitlines() if line.startswith(f"{name}{{")))


def test_a_prompt_comes_from_the_cache_in_whole_blocks_and_never_all_of_it(subject: Subject) -> None:
    messages = fresh()
    prompt, cached, created = counts(ask(subject, messages))
    assert (cached, created) == (0, whole_blocks(prompt))
    assert counts(ask(subject, messages)) == (prompt, whole_blocks(prompt - 1), 0)


def test_a_salt_keeps_prompts_apart_and_a_session_does_not(subject: Subject) -> None:
    messages = fresh()
    ask(subject, messages)
    prompt, cached, _ = counts(ask(subject, messages, cache_salt="a"))
    assert cached == 0
    assert counts(ask(subject, messages, cache_salt="a"))[1] == whole_blocks(prompt - 1)
    assert counts(ask(subject, messages, cache_salt="b"))[1] == 0
    assert counts(ask(subject, messages, session_id="s"))[1] == whole_blocks(prompt - 1)


def test_seed_and_temperature_share_the_cache_and_prompt_logprobs_go_past_it(subject: Subject) -> None:
    messages = fresh()
    prompt = counts(ask(subject, messages))[0]
    assert counts(ask(subject, messages, temperature=1, seed=5))[1] == whole_blocks(prompt - 1)
    assert counts(ask(subject, messages, prompt_logprobs=1))[1] == 0


def test_the_next_turn_finds_the_reply_in_the_cache_if_it_is_sent_back_unchanged(subject: Subject) -> None:
    messages = fresh()
    first = ask(subject, messages, max_tokens=2 * BLOCK_TOKENS, min_tokens=2 * BLOCK_TOKENS - 1).json()
    reply, usage = first["choices"][0]["message"]["content"], first["usage"]
    following = [*messages, {"role": "assistant", "content": reply}, {"role": "user", "content": "Go on."}]
    cached = counts(ask(subject, following))[1]
    # The last block or two may be cut otherwise when the reply is read again as text.
    assert cached >= whole_blocks(usage["total_tokens"]) - 2 * BLOCK_TOKENS
    assert cached > usage["prompt_tokens"]
    trimmed = [*messages, {"role": "assistant", "content": "Oh? " + reply}, {"role": "user", "content": "Go on."}]
    assert counts(ask(subject, trimmed))[1] <= whole_blocks(usage["prompt_tokens"])


def test_a_client_that_leaves_frees_its_slot(subject: Subject) -> None:
    body = {"model": "smollm2", "messages": fresh(30), "max_tokens": 3000, "ignore_eos": True, "stream": True}
    with subject.client.stream("POST", "/v1/chat/completions", json=body) as answer:
        next(answer.iter_lines())
    deadline = time.monotonic() + PATIENCE_S
    while metric(subject, "vllm:num_requests_running") > 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_metrics_have_the_recorded_names_labels_and_buckets(subject: Subject) -> None:
    page = subject.client.get("/metrics")
    assert page.headers["content-type"] == "text/plain; version=1.0.0; charset=utf-8"
    assert samples(page.text) == samples(RECORDED_METRICS)


def test_metrics_count_tokens_and_requests(subject: Subject) -> None:
    names = ("vllm:prompt_tokens_total", "vllm:generation_tokens_total", "vllm:prefix_cache_queries_total")
    before = [metric(subject, name) for name in names]
    usage = ask(subject, fresh(), max_tokens=5, ignore_eos=True).json()["usage"]
    deadline = time.monotonic() + PATIENCE_S
    expected = [usage["prompt_tokens"], 5, usage["prompt_tokens"]]
    while [metric(subject, name) - old for name, old in zip(names, before, strict=True)] != expected:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def samples(page: str) -> set[str]:
    """Of the engine: what a build without these platforms or an idle engine lacks is left out."""
    found = (line.rpartition(" ")[0] for line in page.splitlines() if line.startswith("vllm:"))
    return {re.sub(r"cache_config_info\{.*", "cache_config_info", each) for each in found}
