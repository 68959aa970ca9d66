"""Every fault that breaks single answers, as a client meets it."""

import json

import httpx
import pytest

from loadtests.simulator.errors import ENGINE_DIED
from tests.support.simulator_process import SimulatorProcess, chat, events, finish_of, streamed, text_of

TEXT = "One two three four five six seven."


@pytest.fixture(autouse=True)
def _scripted(replica: SimulatorProcess) -> None:
    replica.script(TEXT)


def hear(process: SimulatorProcess, said: list[str]) -> None:
    """What could be heard is in `said`, also when the stream breaks."""
    timeout = httpx.Timeout(5, read=0.5)
    with process.client.stream("POST", "/v1/chat/completions", json=chat(stream=True), timeout=timeout) as answer:
        for each in events(answer.iter_lines()):
            said.append(each)


def test_without_a_fault_the_reply_is_whole(replica: SimulatorProcess) -> None:
    said = streamed(replica, chat())
    assert (text_of(said), finish_of(said), said[-1]) == (TEXT, "stop", "[DONE]")


@pytest.mark.parametrize(
    ("status", "kind"), [(503, "Service Unavailable"), (500, "InternalServerError"), (529, "RefusedError")]
)
def test_refuse_answers_with_its_status_before_anything_is_sent(
    replica: SimulatorProcess, status: int, kind: str
) -> None:
    replica.fault(kind="refuse", status=status, times=1)
    answer = replica.client.post("/v1/chat/completions", json=chat(stream=True))
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)
    assert replica.client.post("/v1/chat/completions", json=chat()).status_code == 200


def test_cut_closes_the_connection_in_mid_stream(replica: SimulatorProcess) -> None:
    replica.fault(kind="cut", after_chunks=3)
    said: list[str] = []
    with pytest.raises(httpx.RemoteProtocolError):
        hear(replica, said)
    assert text_of(said) == "One two three"


def test_cut_leaves_a_plain_answer_unfinished(replica: SimulatorProcess) -> None:
    replica.fault(kind="cut")
    with pytest.raises(httpx.RemoteProtocolError):
        replica.client.post("/v1/chat/completions", json=chat())


def test_stall_falls_silent_with_the_connection_open(replica: SimulatorProcess) -> None:
    replica.fault(kind="stall", after_chunks=2)
    said: list[str] = []
    with pytest.raises(httpx.ReadTimeout):
        hear(replica, said)
    assert text_of(said) == "One two"


def test_stall_keeps_a_plain_answer_waiting(replica: SimulatorProcess) -> None:
    replica.fault(kind="stall")
    with pytest.raises(httpx.ReadTimeout):
        replica.client.post("/v1/chat/completions", json=chat(), timeout=0.5)


def test_error_ends_a_stream_with_an_error_object_and_done(replica: SimulatorProcess) -> None:
    replica.fault(kind="error", after_chunks=2)
    said = streamed(replica, chat())
    assert said[-1] == "[DONE]"
    assert json.loads(said[-2])["error"]["message"] == ENGINE_DIED
    assert finish_of(said[:-2]) is None


def test_error_is_500_for_a_plain_answer(replica: SimulatorProcess) -> None:
    replica.fault(kind="error")
    assert replica.client.post("/v1/chat/completions", json=chat()).status_code == 500


def test_no_finish_says_done_and_nothing_before(replica: SimulatorProcess) -> None:
    replica.fault(kind="no_finish", after_chunks=1)
    said = streamed(replica, chat())
    assert (text_of(said), finish_of(said), said[-1]) == ("One", None, "[DONE]")
    choice = replica.client.post("/v1/chat/completions", json=chat()).json()["choices"][0]
    assert choice["finish_reason"] is None


def test_abort_finishes_with_that_reason(replica: SimulatorProcess) -> None:
    replica.fault(kind="abort", after_chunks=4)
    said = streamed(replica, chat())
    assert (text_of(said), finish_of(said)) == ("One two three four", "abort")
    choice = replica.client.post("/v1/chat/completions", json=chat()).json()["choices"][0]
    assert choice["finish_reason"] == "abort"


@pytest.mark.parametrize("streams", [True, False])
def test_broken_utf8_puts_bytes_on_the_wire_that_are_none(replica: SimulatorProcess, streams: bool) -> None:
    replica.fault(kind="broken_utf8", after_chunks=1 if streams else 0)
    raw = replica.client.post("/v1/chat/completions", json=chat(stream=streams)).content
    with pytest.raises(UnicodeDecodeError):
        raw.decode()
    assert b'"content":"\xc3(\xff"' in raw


def test_wrong_usage_counts_what_cannot_be(replica: SimulatorProcess) -> None:
    replica.fault(kind="wrong_usage")
    said = streamed(replica, chat(stream_options={"include_usage": True}))
    assert json.loads(said[-2])["usage"]["completion_tokens"] > 100_000
    assert replica.client.post("/v1/chat/completions", json=chat()).json()["usage"]["prompt_tokens"] == 0


def test_chopped_cuts_events_and_characters_between_writes(replica: SimulatorProcess) -> None:
    replica.script("你好，世界🙂")
    replica.fault(kind="chopped", bytes_per_write=2)
    said = streamed(replica, chat())
    assert text_of(said) == "你好，世界🙂"


def test_a_fault_for_one_session_spares_the_others(replica: SimulatorProcess) -> None:
    replica.fault(kind="refuse", session="bad")
    statuses = [
        replica.client.post("/v1/chat/completions", json=chat(**fields)).status_code
        for fields in ({"cache_salt": "bad"}, {"session_id": "bad"}, {"cache_salt": "good"}, {})
    ]
    assert statuses == [503, 503, 200, 200]


def test_a_fault_that_was_cleared_hits_no_more(replica: SimulatorProcess) -> None:
    known = replica.fault(kind="refuse")
    assert replica.admin.delete(f"/sim/faults/{known}").status_code == 204
    assert replica.client.post("/v1/chat/completions", json=chat()).status_code == 200
    assert replica.admin.delete(f"/sim/faults/{known}").status_code == 404


def test_the_recorder_knows_which_fault_hit(replica: SimulatorProcess) -> None:
    replica.fault(kind="stall", after_chunks=1)
    with pytest.raises(httpx.ReadTimeout):
        replica.client.post("/v1/chat/completions", json=chat(stream=True), timeout=0.5)
    assert [record["outcome"] for record in replica.requests()] == ["stall"]
