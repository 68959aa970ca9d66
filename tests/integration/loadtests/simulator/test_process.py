"""The life of a replica as it looks from outside: loading, and each of vLLM's endings as the recordings have them."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from loadtests.simulator.errors import BUSY, ENGINE_DIED, LEAVING
from tests.support.simulator_process import SimulatorProcess, chat, events, finish_of, simulator

LAST_WORDS = [
    {"error": {"message": ENGINE_DIED, "type": "InternalServerError", "param": None, "code": 500}},
    "[DONE]",
]
LONG = {"max_tokens": 200, "ignore_eos": True, "stream": True}


def decoded(said: list[str]) -> list[object]:
    return [each if each == "[DONE]" else json.loads(each) for each in said]


def refuses(process: SimulatorProcess) -> bool:
    try:
        httpx.get(f"{process.url}/health", trust_env=False)
    except httpx.TransportError:  # also a connection that is dropped at the closing
        return True
    return False


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=16) as threads:
        yield threads


class Open:
    """A stream that has begun, and is read on in a thread."""

    def __init__(self, process: SimulatorProcess, pool: ThreadPoolExecutor, **fields: object) -> None:
        body = chat("Tell me a long story.", **{**LONG, **fields})
        self._context = process.client.stream("POST", "/v1/chat/completions", json=body)
        answer = self._context.__enter__()
        assert answer.status_code == httpx.codes.OK
        lines = events(answer.iter_lines())
        self.began = [next(lines), next(lines)]
        self._rest = pool.submit(list, lines)

    def rest(self) -> list[str]:
        try:
            return self._rest.result(timeout=30)
        finally:
            self._context.__exit__(None, None, None)


def test_the_port_is_closed_until_all_phases_of_loading_are_over() -> None:
    process = SimulatorProcess("--speed-up", "20", "--load-s", "40")
    try:
        seen: list[str] = []
        deadline = time.monotonic() + 60
        while (phase := process.phase) != "ready":
            assert time.monotonic() < deadline
            if phase not in (*seen, "gone"):
                was_refused = refuses(process)
                assert was_refused or process.phase == "ready"
                seen.append(phase)
            time.sleep(0.005)
        order = ["importing", "loading_weights", "profiling_memory", "warming_up"]
        assert [phase for phase in order if phase in seen] == [phase for phase in seen if phase in order]
        assert "loading_weights" in seen
        process.wait_until("ready")
        assert process.client.get("/health").status_code == 200
    finally:
        process.close()


def test_a_replica_that_loads_leaves_when_it_is_asked_to() -> None:
    process = SimulatorProcess("--speed-up", "1", "--load-s", "1000")
    try:
        deadline = time.monotonic() + 60
        while process.phase == "gone":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.terminate()
        assert process.wait_for_end() == 0
    finally:
        process.close()


def test_by_default_sigterm_ends_everything_with_vllm_s_last_words(pool: ThreadPoolExecutor) -> None:
    with simulator("--speed-up", "1") as process:
        stream = Open(process, pool)
        plain = pool.submit(process.client.post, "/v1/chat/completions", json=chat("And plain?", max_tokens=200))
        while process.state()["in_flight"] < 2:
            time.sleep(0.01)
        process.terminate()
        assert decoded(stream.rest())[-2:] == LAST_WORDS
        answer = plain.result(timeout=10)
        assert (answer.status_code, answer.json()) == (500, LAST_WORDS[0])
        assert process.wait_for_end() == 0


def test_after_an_abort_new_requests_get_500_while_health_is_still_200() -> None:
    with simulator("--speed-up", "0.1") as process:
        process.terminate()
        while process.phase != "dead":
            time.sleep(0.01)
        assert process.client.get("/health").status_code == 200
        answer = process.client.post("/v1/chat/completions", json=chat())
        assert (answer.status_code, answer.json()) == (500, LAST_WORDS[0])


def test_a_drain_finishes_what_runs_and_looks_healthy_while_it_refuses_what_is_new(pool: ThreadPoolExecutor) -> None:
    with simulator("--speed-up", "5", "--shutdown-timeout", "60") as process:
        stream = Open(process, pool, max_tokens=100)
        process.terminate()
        process_is_draining(process)
        assert process.client.get("/health").status_code == 200
        assert process.client.get("/v1/models").status_code == 200
        answer = process.client.post("/v1/chat/completions", json=chat())
        error = {"message": LEAVING, "type": "InternalServerError", "param": None, "code": 500}
        assert (answer.status_code, answer.json()) == (500, {"error": error})
        said = stream.rest()
        assert finish_of([*stream.began, *said]) == "length"
        assert said[-1] == "[DONE]"
        assert process.client.get("/health").status_code == 200, "it lingers after its last request"
        assert process.wait_for_end() == 0


def test_a_drain_that_takes_too_long_ends_like_an_abort(pool: ThreadPoolExecutor) -> None:
    with simulator("--speed-up", "5", "--shutdown-timeout", "2", "--max-num-seqs", "1") as process:
        streams = [Open(process, pool, max_tokens=1000)]
        waiting = pool.submit(process.client.post, "/v1/chat/completions", json=chat(max_tokens=5))
        while process.state()["in_flight"] < 2:
            time.sleep(0.01)
        process.terminate()
        assert decoded(streams[0].rest())[-2:] == LAST_WORDS
        assert waiting.result(timeout=10).status_code == 500
        assert process.wait_for_end() == 0


def test_after_an_engine_s_death_the_port_closes_and_the_process_ends_by_itself(pool: ThreadPoolExecutor) -> None:
    with simulator("--speed-up", "1") as process:
        stream = Open(process, pool)
        process.fault(kind="engine_death")
        assert decoded(stream.rest())[-2:] == LAST_WORDS
        answer = process.client.post("/v1/chat/completions", json=chat())
        assert (answer.status_code, answer.json()) == (500, LAST_WORDS[0])
        assert process.client.get("/health").status_code == 200
        assert process.wait_for_end() == 1
        assert refuses(process)


def test_long_prompts_together_run_out_of_memory_and_take_the_engine_with_them(pool: ThreadPoolExecutor) -> None:
    """One of them alone fits, as the check at the start of a real engine says too."""
    with simulator("--profile", "48gb-14b-before", "--speed-up", "5") as process:
        alone = process.client.post("/v1/chat/completions", json=chat("word " * 7800, max_tokens=1))
        assert alone.status_code == 200
        bodies = [chat(f"{n} " + "word " * 7800, max_tokens=1) for n in range(12)]
        sent = [pool.submit(process.client.post, "/v1/chat/completions", json=body) for body in bodies]
        assert 500 in [answer.result(timeout=30).status_code for answer in sent]
        assert process.state()["died_of"] == "out of memory"
        assert process.wait_for_end() == 1


def test_a_full_queue_refuses_before_a_stream_begins(pool: ThreadPoolExecutor) -> None:
    with simulator("--speed-up", "1", "--max-num-seqs", "1", "--max-num-queued-reqs", "1") as process:
        stream = Open(process, pool, max_tokens=2000)
        waiting = pool.submit(process.client.post, "/v1/chat/completions", json=chat(max_tokens=1))
        while process.state()["in_flight"] < 2:
            time.sleep(0.01)
        for streams in (False, True):
            answer = process.client.post("/v1/chat/completions", json=chat(stream=streams))
            error = {"message": BUSY, "type": "Service Unavailable", "param": None, "code": 503}
            assert (answer.status_code, answer.json()) == (503, {"error": error})
            assert "retry-after" not in answer.headers
        assert process.metric("vllm:admission_rejections_total") == 2
        process.terminate()
        stream.rest()
        assert waiting.result(timeout=10).status_code == 500


def process_is_draining(process: SimulatorProcess) -> None:
    deadline = time.monotonic() + 10
    while process.phase != "draining":
        assert time.monotonic() < deadline
        time.sleep(0.01)
