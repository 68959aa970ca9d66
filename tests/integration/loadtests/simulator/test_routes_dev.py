"""Pause, sleep and aborts as behave_2 and behave_3 of the recordings have them."""

import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest
from typing_extensions import override

from tests.support.simulator_process import SimulatorProcess, chat, finish_of, streamed


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Stream(threading.Thread):
    """A long stream in the background."""

    def __init__(self, process: SimulatorProcess, **fields: object) -> None:
        super().__init__()
        self._process = process
        self._body = chat("Tell me.", **{"max_tokens": 400, "ignore_eos": True, **fields})
        self.said: list[str] = []
        self.start()
        wait_for(lambda: process.state()["running"] > 0)

    @override
    def run(self) -> None:
        self.said = streamed(self._process, self._body)

    def finish(self) -> str | None:
        self.join(20)
        return finish_of(self.said)


@pytest.fixture(autouse=True)
def _awake_at_the_end(replica: SimulatorProcess) -> Iterator[None]:
    yield
    replica.client.post("/wake_up")
    replica.client.post("/resume")


def post(process: SimulatorProcess, path: str) -> object:
    answer = process.client.post(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def hangs(process: SimulatorProcess) -> bool:
    try:
        process.client.post("/v1/chat/completions", json=chat(), timeout=0.4)
    except httpx.ReadTimeout:
        return True
    return False


@pytest.mark.parametrize("path", ["/pause", "/pause?mode=abort"])
def test_a_pause_aborts_what_runs_and_lets_new_requests_hang(replica: SimulatorProcess, path: str) -> None:
    aborted = 'vllm:request_success_total{engine="0",finished_reason="abort",model_name="smollm2"} '
    stream = Stream(replica)
    assert post(replica, path) == {"status": "paused"}
    assert stream.finish() == "abort"
    assert replica.client.get("/is_paused").json() == {"is_paused": True}
    assert replica.client.get("/health").status_code == 200
    assert hangs(replica)
    assert replica.metric("vllm:num_requests_waiting") == 0
    assert post(replica, "/resume") == {"status": "resumed"}
    assert not hangs(replica)
    assert aborted in replica.client.get("/metrics").text


def test_a_pause_can_wait_for_what_runs(replica: SimulatorProcess) -> None:
    stream = Stream(replica)
    assert post(replica, "/pause?mode=wait") == {"status": "paused"}
    assert stream.finish() == "length"


def test_a_pause_can_hold_what_runs_and_resume_it_in_place(replica: SimulatorProcess) -> None:
    stream = Stream(replica)
    post(replica, "/pause?mode=keep")
    stream.join(0.5)
    assert stream.is_alive()
    assert hangs(replica)
    post(replica, "/resume")
    assert stream.finish() == "length"


@pytest.mark.parametrize(("level", "state"), [(0, None), (1, "weights_offloaded"), (2, "discard_all")])
def test_sleep_looks_healthy_and_hangs_until_it_wakes(replica: SimulatorProcess, level: int, state: str | None) -> None:
    assert post(replica, f"/sleep?level={level}") == {"status": "sleeping", "level": level}
    assert replica.client.get("/is_sleeping").json() == {"is_sleeping": True}
    assert replica.client.get("/health").status_code == 200
    page = replica.client.get("/metrics").text
    assert 'sleep_state="awake"} 0.0' in page
    assert state is None or f'sleep_state="{state}"}} 1.0' in page
    assert hangs(replica)
    assert post(replica, "/wake_up") == {"status": "awake", "tags": None}
    assert replica.client.get("/is_sleeping").json() == {"is_sleeping": False}
    assert not hangs(replica)


def test_who_is_resumed_in_its_sleep_can_still_be_woken(replica: SimulatorProcess) -> None:
    post(replica, "/sleep?level=1")
    post(replica, "/resume")
    post(replica, "/wake_up")
    assert not hangs(replica)


def test_the_prefix_cache_is_emptied_only_when_nothing_runs(replica: SimulatorProcess) -> None:
    stream = Stream(replica)
    assert post(replica, "/reset_prefix_cache") == {"success": False}
    stream.finish()
    wait_for(lambda: post(replica, "/reset_prefix_cache") == {"success": True})


def test_an_abort_needs_the_full_id_and_counts_every_one(replica: SimulatorProcess) -> None:
    stream = Stream(replica, request_id="call-7")
    wrong = replica.client.post("/abort_requests", json={"request_ids": ["call-7"]})
    assert wrong.json() == {"status": "aborted", "aborted": 1}
    assert stream.is_alive()
    right = replica.client.post("/abort_requests", json={"request_ids": ["chatcmpl-call-7"]})
    assert right.json() == {"status": "aborted", "aborted": 1}
    assert stream.finish() == "abort"
    assert replica.client.post("/abort_requests").json() == {"status": "aborted", "aborted": 0}


@pytest.mark.parametrize("path", ["/pause?mode=often", "/sleep?level=9"])
def test_what_is_not_known_is_refused(replica: SimulatorProcess, path: str) -> None:
    assert replica.client.post(path).status_code == 400


def test_aborts_that_cannot_be_read_are_refused(replica: SimulatorProcess) -> None:
    assert replica.client.post("/abort_requests", content=b"[").status_code == 400


def test_the_server_tells_its_profile(replica: SimulatorProcess) -> None:
    assert "cpu-smollm2" in replica.client.get("/server_info").json()["vllm_config"]
