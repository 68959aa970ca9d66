"""How the replica says it is: load, metrics that are as old as its last step, keys, headers, its vocabulary."""

import threading
import time
from collections.abc import Callable

import httpx
import pytest

from tests.support.simulator_process import SimulatorProcess, chat, simulator, streamed


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_load_is_counted_only_with_its_flag(replica: SimulatorProcess) -> None:
    with simulator("--enable-server-load-tracking", "--speed-up", "1") as tracking:
        for process, expected in ((tracking, 1), (replica, 0)):
            stream = threading.Thread(target=streamed, args=(process, chat(max_tokens=60, ignore_eos=True)))
            stream.start()
            wait_for(lambda process=process: process.state()["in_flight"] == 1)  # type: ignore[misc]
            assert process.client.get("/load").json() == {"server_load": expected}
            stream.join()
        assert tracking.client.get("/load").json() == {"server_load": 0}


def test_metrics_stand_still_while_a_step_lasts() -> None:
    """Five requests come during one long step, and the page still says that one runs and none waits."""
    with simulator("--speed-up", "1") as process:
        long = chat("word " * 3000, max_tokens=1)
        threads = [threading.Thread(target=process.client.post, args=("/v1/chat/completions",), kwargs={"json": long})]
        threads += [
            threading.Thread(
                target=process.client.post, args=("/v1/chat/completions",), kwargs={"json": chat(f"{n}", max_tokens=1)}
            )
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
            time.sleep(0.05)
        wait_for(lambda: process.state()["in_flight"] == 5)
        assert process.metric("vllm:num_requests_waiting") == 0
        for thread in threads:
            thread.join()
        assert process.metric("vllm:num_requests_running") == 0
        assert process.metric("vllm:prompt_tokens_total") > 3000


def test_the_page_has_the_content_type_of_the_recording(replica: SimulatorProcess) -> None:
    headers = replica.client.get("/metrics").headers
    assert headers["content-type"] == "text/plain; version=1.0.0; charset=utf-8"


def test_a_key_guards_the_api_and_nothing_else() -> None:
    with simulator("--api-key", "sekret") as process:
        for path in ("/health", "/metrics", "/load", "/version"):
            assert process.client.get(path).status_code == 200
        assert process.client.post("/tokenize", json={"prompt": "x"}).status_code == 200
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            answer = process.client.get("/v1/models", headers=headers)
            assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})
            assert "vary" not in answer.headers
        assert process.client.get("/v1/models", headers={"Authorization": "Bearer sekret"}).status_code == 200


def test_request_ids_come_back_with_their_flag(replica: SimulatorProcess) -> None:
    with simulator("--enable-request-id-headers", "--enable-per-request-metrics") as process:
        named = process.client.get("/version", headers={"X-Request-Id": "call-1"})
        assert named.headers["x-request-id"] == "call-1"
        body = chat(request_id="mine")
        answer = process.client.post("/v1/chat/completions", json=body)
        assert answer.json()["id"] == "chatcmpl-mine"
        assert answer.headers["x-request-id"] != "mine"
        assert answer.json()["metrics"]["time_to_first_token_ms"] > 30
    assert "x-request-id" not in replica.client.get("/version").headers


def test_usage_can_be_forced_into_every_chunk() -> None:
    with simulator("--enable-force-include-usage") as process:
        said = streamed(process, chat())
        assert all('"usage"' in each for each in said[:-1])


@pytest.mark.parametrize("text", ["Hello world", "你好 🙂", "<|im_end|>", ""])
def test_tokens_give_the_text_back(replica: SimulatorProcess, text: str) -> None:
    counted = replica.client.post("/tokenize", json={"prompt": text, "return_token_strs": True}).json()
    assert counted["count"] == len(counted["tokens"]) == len(counted["token_strs"])
    assert replica.client.post("/detokenize", json={"tokens": counted["tokens"]}).json() == {"prompt": text}


def test_a_chat_counts_as_many_tokens_as_it_is_said_to_have(replica: SimulatorProcess) -> None:
    body = chat("How many are these?")
    counted = replica.client.post("/tokenize", json=body).json()["count"]
    assert replica.client.post("/v1/chat/completions", json=body).json()["usage"]["prompt_tokens"] == counted


def test_development_routes_are_not_there_by_default() -> None:
    with simulator() as process:
        for path in ("/pause", "/sleep", "/reset_prefix_cache"):
            assert process.client.post(path).status_code == httpx.codes.NOT_FOUND
