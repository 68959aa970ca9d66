"""The main job on real vLLM: a class plays its drill, each session stays on its replica, the cache does its work."""

import json
import os
import signal
import statistics
import time
from typing import Any
from uuid import uuid4

import httpx
import pytest
import redis

from tests.vllm.acting import close_all, context, english, started, turn, wait_until
from tests.vllm.conftest import RealStack

pytestmark = pytest.mark.vllm

TRAINEES, TURNS = 4, 25
_ON_THE_WAY_S = 0.1
"""What a turn costs beside its prompt; where prompts are computed in no time there is little else."""
_LONG_ANSWER = "Tell me at length what is wrong, when it began, and what you have tried so far."


@pytest.fixture(scope="session")
def drill(lasting_stack: RealStack, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of one class of four over 25 turns."""
    lasting_stack.wait_until_whole()
    # Sessions that others have left weigh on their replicas, and the class would go where there are fewer.
    close_all(lasting_stack)
    report = tmp_path_factory.mktemp("drill") / "drill.json"
    words = ["--trainees", str(TRAINEES), "--turns", str(TURNS), "--think", "0.2", "--json", str(report)]
    done = lasting_stack.drillyard("drill", "run", "--scenario", english(lasting_stack), *words)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)  # noqa: T201  the table is worth reading in the log of a run
    content: dict[str, Any] = json.loads(report.read_text())
    return content


def test_no_turn_fails(drill: dict[str, Any]) -> None:
    rows = drill["turns"]
    assert len(rows) == TRAINEES * TURNS
    assert all(row["failure"] is None for row in rows)
    assert all(row["usage"]["completion_tokens"] > 0 for row in rows)


def test_every_session_stays_on_one_replica_and_the_class_is_spread(drill: dict[str, Any]) -> None:
    replicas: dict[str, set[str]] = {}
    for row in drill["turns"]:
        replicas.setdefault(row["session"], set()).add(row["replica"])
    assert all(len(seen) == 1 for seen in replicas.values())
    homes = [next(iter(seen)) for seen in replicas.values()]
    assert sorted(homes.count(home) for home in set(homes)) == [2, 2]


def test_from_the_third_turn_on_the_prompt_comes_out_of_the_cache(drill: dict[str, Any]) -> None:
    usages = [row["usage"] for row in drill["turns"] if row["turn"] >= 3]
    shares = [usage["cached_tokens"] / usage["prompt_tokens"] for usage in usages]
    assert sum(u["cached_tokens"] for u in usages) / sum(u["prompt_tokens"] for u in usages) > 0.85
    assert statistics.quantiles(shares, n=20)[0] > 0.7


def test_replies_are_the_model_s_own(stack: RealStack) -> None:
    """The same prompt under greedy decoding, sent straight to the replica, is answered with words of the same model."""
    with stack.client() as client:
        session = started(stack, client)
        replies = [turn(client, session, f"Tell me about the number {n}.")["reply"] for n in range(3)]
    assert len(set(replies)) > 1, "so small a model may say the same thing twice, but not always"
    assert all(len(reply.split()) > 2 for reply in replies)


def test_deltas_arrive_as_they_are_generated(stack: RealStack) -> None:
    """Over at least half of the time that the replica takes for them; what is held until the end comes at once."""
    with stack.client() as client:
        session = started(stack, client)
        arrivals, lines = [], list[str]()
        path = f"/v1/sessions/{session}/turns"
        with client.stream(
            "POST", path, json={"text": _LONG_ANSWER}, headers={"Accept": "text/event-stream"}
        ) as stream:
            for line in stream.iter_lines():
                lines.append(line)
                if line == "event: delta":
                    arrivals.append(time.monotonic())
    timings = json.loads(lines[lines.index("event: done") + 1].removeprefix("data: "))["timings"]
    assert len(arrivals) > 5
    assert arrivals[-1] - arrivals[0] > 0.5 * (timings["e2e_ms"] - timings["ttft_ms"]) / 1000


def test_a_late_turn_starts_in_a_third_of_the_time_that_a_cold_replica_needs(stack: RealStack) -> None:
    warm, cold = [], []
    with stack.client() as client:
        session = started(stack, client)
        for number in range(1, 10):
            turn(client, session, _question(number))
        for number in range(10, 13):
            before = context(stack, session)
            late = turn(client, session, _question(number))
            warm.append(late["timings"]["ttft_ms"] / 1000)
            cold.append(cold_ttft(stack, before, replica=late["replica"], text=_question(number)))
            assert late["usage"]["cached_tokens"] > 0.8 * late["usage"]["prompt_tokens"]
    assert statistics.median(warm) < statistics.median(cold) / 3 + _ON_THE_WAY_S, f"warm {warm}, cold {cold}"


def test_kill_9_and_a_flush_lose_nothing_on_real_replicas(stack: RealStack) -> None:
    with stack.client() as client:
        session = started(stack, client)
        first = turn(client, session, "Good morning.")
        before = context(stack, session)
        flush(stack)
        kill(stack, "gateway")
        stack.wait_until_whole()
        assert context(stack, session) == before
        second = turn(client, session, "Are you still there?")
        assert second["replica"] == first["replica"]
        assert second["usage"]["cached_tokens"] > 0.7 * second["usage"]["prompt_tokens"]
        listed = client.get(f"/v1/sessions/{session}/turns").json()["items"]
    assert [row["turn"] for row in listed] == [1, 2]


def test_a_replica_that_is_killed_is_started_again_and_its_sessions_go_on(stack: RealStack) -> None:
    with stack.client() as client:
        session = started(stack, client)
        home = turn(client, session, "Good morning.")["replica"]
        kill(stack, home)
        elsewhere = turn(client, session, "Are you still there?")
        assert elsewhere["replica"] != home
        wait_until(lambda: client.get("/readyz").json()["checks"]["replicas"]["detail"] == "2 of 2 ready")
        assert turn(client, session, "And now?")["replica"] == elsewhere["replica"]


def _question(number: int) -> str:
    return f"This is question {number}. What do you think of my offer, and what is missing?"


def cold_ttft(stack: RealStack, before: dict[str, Any], *, replica: str, text: str) -> float:
    """Seconds to the first token when the replica gets the session's prompt and has none of it in its cache."""
    url = next(each["url"] for each in stack.ready["replicas"] if each["id"] == replica)
    body = {
        "model": before["model"],
        "messages": [
            *({"role": each["role"], "content": each["content"]} for each in before["messages"]),
            {"role": "user", "content": text},
        ],
        "max_tokens": 4,
        "stream": True,
        "cache_salt": uuid4().hex,
    }
    began = time.monotonic()
    with httpx.stream(
        "POST", f"{url.rstrip('/')}/v1/chat/completions", json=body, trust_env=False, timeout=120
    ) as stream:
        next(stream.iter_lines())
        return time.monotonic() - began


def flush(stack: RealStack) -> None:
    with redis.Redis.from_url(stack.ready["redis_url"]) as admin:
        admin.flushall()


def kill(stack: RealStack, name: str) -> None:
    before = stack.ready["pids"][name]
    os.kill(before, signal.SIGKILL)
    if name == "gateway":
        wait_until(lambda: stack.ready["pids"][name] != before)
