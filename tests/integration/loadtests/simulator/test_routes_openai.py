"""Chats and completions over real HTTP: what the recordings cannot show, since they are one call each."""

import json
import threading
import time
from collections.abc import Callable
from itertools import pairwise

import httpx
import jsonschema
import pytest

from tests.support.simulator_process import SimulatorProcess, chat, finish_of, simulator, streamed, text_of


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_same_prompt_is_answered_with_the_same_words(replica: SimulatorProcess) -> None:
    replies = {text_of(streamed(replica, chat("How much is it?"))) for _ in range(3)}
    assert len(replies) == 1


def test_a_stream_says_what_a_body_says(replica: SimulatorProcess) -> None:
    body = replica.client.post("/v1/chat/completions", json=chat("How much is it?")).json()
    assert text_of(streamed(replica, chat("How much is it?"))) == body["choices"][0]["message"]["content"]


def test_another_seed_makes_another_replica_say_something_else() -> None:
    said = []
    for seed in ("1", "2"):
        with simulator("--seed", seed) as process:
            said.append([text_of(streamed(process, chat(f"Question {n}"))) for n in range(5)])
    assert said[0] != said[1]


def test_replies_are_scripted_per_scenario_and_turn(replica: SimulatorProcess) -> None:
    replica.script(
        {"system": "buyer", "replies": ["First.", {"text": ""}, {"repeat": "ha ", "times": 3}]},
        {"last": "long", "replies": [{"long": 3000}]},
    )
    system = {"role": "system", "content": "You are the buyer."}
    messages = [system]
    said = []
    for _ in range(4):
        messages += [{"role": "user", "content": "Go on."}]
        answer = replica.client.post("/v1/chat/completions", json={"messages": messages}).json()
        said.append(answer["choices"][0]["message"]["content"])
    assert said == ["First.", "", "ha ha ha ", "ha ha ha "]
    assert len(text_of(streamed(replica, chat("Something long.", max_tokens=2000)))) >= 3000


def test_phrases_are_emitted_cut_at_every_place(replica: SimulatorProcess) -> None:
    replica.script({"split": ["secret"]})
    texts = [json.loads(each)["choices"][0]["delta"]["content"] for each in streamed(replica, chat())[1:-2]]
    cuts = list(pairwise(texts))
    assert all(("secret"[:place], "secret"[place:]) in cuts for place in range(1, 6))


def test_characters_of_several_tokens_appear_whole(replica: SimulatorProcess) -> None:
    replica.script("😀🎉你好")
    said = streamed(replica, chat(stream_options={"include_usage": True}))
    texts = [json.loads(each)["choices"][0]["delta"]["content"] for each in said[1:-3]]
    assert texts == ["", "😀", "", "🎉", "你", "好"]
    assert json.loads(said[-2])["usage"]["completion_tokens"] == 7


def test_an_empty_reply_finishes_at_once(replica: SimulatorProcess) -> None:
    replica.script({"text": ""})
    said = streamed(replica, chat())
    assert (text_of(said), finish_of(said), len(said)) == ("", "stop", 3)


def test_a_schema_is_answered_with_an_instance_of_it(replica: SimulatorProcess) -> None:
    schema = {
        "type": "object",
        "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 5}, "why": {"type": "string"}},
        "required": ["score", "why"],
        "additionalProperties": False,
    }
    shape = {"type": "json_schema", "json_schema": {"name": "score", "schema": schema}}
    said = streamed(replica, chat("Score it.", response_format=shape))
    jsonschema.validate(json.loads(text_of(said)), schema)


def test_the_second_turn_finds_the_first_in_the_cache(replica: SimulatorProcess) -> None:
    messages = [{"role": "user", "content": "word " * 200}]
    cached = []
    for _ in range(3):
        answer = replica.client.post("/v1/chat/completions", json={"messages": messages, "max_tokens": 40}).json()
        cached.append(answer["usage"]["prompt_tokens_details"]["cached_tokens"])
        reply = answer["choices"][0]["message"]["content"]
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": "And then?"}]
    assert cached[0] == 0
    assert cached[1] >= 192
    assert cached[2] > cached[1] - 1


@pytest.mark.parametrize("streams", [True, False])
def test_a_client_that_leaves_frees_its_slot(replica: SimulatorProcess, streams: bool) -> None:
    replica.script("a " * 3)
    replica.fault(kind="freeze", from_s=2.0)
    body = chat(max_tokens=3000, ignore_eos=True, stream=streams)
    with pytest.raises(httpx.ReadTimeout):
        replica.client.post("/v1/chat/completions", json=body, timeout=1.0)
    wait_for(lambda: replica.state()["in_flight"] == 0)
    replica.clear_faults()
    wait_for(lambda: replica.metric("vllm:num_requests_running") == 0)
    assert replica.requests()[0]["outcome"] == "gone"


def test_two_requests_with_one_id_are_both_served(replica: SimulatorProcess) -> None:
    headers, answers = {"X-Request-Id": "dup"}, []

    def ask() -> None:
        answers.append(replica.client.post("/v1/chat/completions", json=chat(max_tokens=40), headers=headers).json())

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer["id"] for answer in answers] == ["chatcmpl-dup"] * 2


def test_lower_priority_goes_first() -> None:
    with simulator("--max-num-seqs", "1", "--scheduling-policy", "priority", "--speed-up", "5") as process:
        done: list[int] = []

        def ask(priority: int) -> None:
            process.client.post("/v1/chat/completions", json=chat(f"{priority}", priority=priority, max_tokens=8))
            done.append(priority)

        threads = [threading.Thread(target=ask, args=(priority,)) for priority in (0, 5, 1, -5)]
        for count, thread in enumerate(threads, start=1):
            thread.start()
            wait_for(lambda count=count: len(process.requests()) >= count)  # type: ignore[misc]
        for thread in threads:
            thread.join()
        assert done == [0, -5, 1, 5]


def test_comments_keep_a_waiting_stream_alive() -> None:
    flags = ("--max-num-seqs", "1", "--speed-up", "5", "--sse-keep-alive-interval", "1")
    with simulator(*flags) as process:
        first = threading.Thread(target=streamed, args=(process, chat(max_tokens=300, ignore_eos=True)))
        first.start()
        wait_for(lambda: len(process.requests()) == 1)
        with process.client.stream("POST", "/v1/chat/completions", json=chat("Second", stream=True)) as answer:
            lines = [line for line in answer.iter_lines() if line]
        first.join()
        assert lines[:2] == [": keep-alive", ": keep-alive"]
        assert lines[-1] == "data: [DONE]"


def test_the_recorder_tells_session_prefix_and_order(replica: SimulatorProcess) -> None:
    system = {"role": "system", "content": "rules " * 100}
    for session, words in (("a", "one"), ("b", "two"), ("a", "three")):
        body = {"messages": [system, {"role": "user", "content": words}], "cache_salt": session, "max_tokens": 2}
        replica.client.post("/v1/chat/completions", json=body, headers={"X-Session-ID": session})
    records = replica.requests()
    assert [record["session"] for record in records] == ["a", "b", "a"]
    assert records[0]["prefix"] == records[2]["prefix"] != records[1]["prefix"]
    assert [record["cached_tokens"] > 0 for record in records] == [False, False, True]
    numbers = [record["number"] for record in records]
    assert numbers == sorted(numbers)
    assert {record["outcome"] for record in records} == {"length"}


def test_bytes_that_are_no_text_are_refused_as_the_framework_does(replica: SimulatorProcess) -> None:
    headers = {"content-type": "application/json"}
    answer = replica.client.post("/v1/chat/completions", content=b'{"x": "\xff"}', headers=headers)
    assert (answer.status_code, answer.json()) == (400, {"detail": "There was an error parsing the body"})
