"""What passes a relay byte for byte, what is held back, and what counts as broken."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.exchange import Call, CallPath
from router.domain.relay import Relay
from router.domain.resume import AskAgain, Complete, Continue, Stuck
from router.domain.sse import MAX_EVENT_BYTES
from router.errors import StreamBroken
from tests.support.deterministic_engine import DeterministicEngine
from tests.support.relayed_reply import chat, completion, relayed, undisturbed
from tests.support.vllm_recordings import Exchange, recordings

ROOT = Path(__file__).parents[4]
STREAMS = [each for each in recordings(ROOT / "tests" / "contract" / "simulator" / "recordings") if each.is_stream]
DONE = b"data: [DONE]\n\n"
USAGE = {"stream_options": {"include_usage": True}}
ROLE = {"role": "assistant", "content": ""}


def recorded_call(exchange: Exchange) -> Call:
    return Call(CallPath(exchange.path), exchange.body or b"", "m", is_streamed=True, request_id="r")


def recorded_bytes(exchange: Exchange) -> bytes:
    return exchange.answer.encode() + b"\n\n"


def event(delta: object = None, reason: str | None = None, *, index: int = 0, **rest: object) -> bytes:
    choice = {"index": index, "delta": delta or {}, "finish_reason": reason}
    return b"data: " + json.dumps({"id": "c", "choices": [choice], **rest}).encode() + b"\n\n"


def text(words: str) -> bytes:
    """Ordinary, and as compact as vLLM writes it."""
    return event({"content": words}).replace(b": ", b":").replace(b"data:", b"data: ")


def usage(prompt: int, completion: int) -> bytes:
    counts = {"prompt_tokens": prompt, "completion_tokens": completion}
    return b"data: " + json.dumps({"choices": [], "usage": counts}).encode() + b"\n\n"


def relay(call: Call | None = None) -> Relay:
    return Relay(call or chat(), token_ids=False)


@pytest.mark.parametrize("exchange", STREAMS, ids=lambda each: each.name)
@pytest.mark.parametrize("grain", [1, 7, 1 << 20])
def test_a_recorded_stream_passes_byte_for_byte(exchange: Exchange, grain: int) -> None:
    stream, one = recorded_bytes(exchange), relay(recorded_call(exchange))
    pieces = [one.feed(stream[at : at + grain]) for at in range(0, len(stream), grain)]
    assert b"".join(pieces) + one.end() == stream
    assert one.is_complete
    assert all(piece.endswith(b"\n\n") for piece in pieces if piece)


def test_the_prompts_tokens_stay_here_unless_the_caller_asked_for_them() -> None:
    (exchange,) = (each for each in STREAMS if each.name == "chat_stream_token_ids")
    stream, call = recorded_bytes(exchange), chat(**USAGE)
    one = Relay(call, token_ids=True)
    assert one.call.body == call.body[:-1] + b',"return_token_ids":true}'
    told = one.feed(stream)
    head, _, rest = stream.partition(b'"prompt_token_ids":[')
    assert told == head + b'"prompt_token_ids":null' + rest.partition(b"]")[2]


def test_a_list_of_tokens_without_an_end_is_no_json() -> None:
    one = Relay(chat(), token_ids=True)
    with pytest.raises(StreamBroken, match="not JSON"):
        one.feed(b'data: {"choices":[],"prompt_token_ids":[1,2\n\n')


def test_nothing_is_handed_out_before_something_is_said() -> None:
    one = relay()
    assert one.feed(event(ROLE)) == b""
    assert one.feed(event({"content": ""})) == b""
    assert not one.has_begun
    assert one.feed(text("a")) == event(ROLE) + event({"content": ""}) + text("a")
    assert one.has_begun


def test_before_that_a_lost_replica_leaves_no_trace() -> None:
    one = relay()
    one.feed(event(ROLE) + b"data: {")
    assert one.resume(replica="r-2") == AskAgain(chat())
    assert one.feed(text("a")) == text("a")


def test_the_end_is_held_back_until_it_is_whole() -> None:
    one = relay(chat(**USAGE))
    finish, counts = event({"content": "b"}, "length"), usage(5, 2)
    assert one.feed(text("a") + finish) == text("a")
    assert one.feed(b": keep-alive\n\n" + counts) == b""
    assert one.feed(DONE) == finish + b": keep-alive\n\n" + counts + DONE
    assert one.feed(b"data: more\n\n") == b""
    assert one.end() == b""


def test_a_usage_that_does_not_come_is_a_cut_only_where_it_must_come() -> None:
    whole = text("a") + event({}, "stop") + DONE
    strict, lenient = relay(chat(**USAGE)), Relay(chat(**USAGE), token_ids=False, must_tell_usage=False)
    assert strict.feed(whole) == text("a")
    with pytest.raises(StreamBroken, match="without its usage"):
        strict.end()
    assert lenient.feed(whole) == whole
    assert lenient.end() == b""
    assert lenient.is_complete


def test_where_it_need_not_come_a_finished_reply_lacks_nothing_but_its_end() -> None:
    one = Relay(chat(**USAGE), token_ids=False, must_tell_usage=False)
    assert one.feed(text("a") + event({}, "stop")) == text("a")
    assert one.resume(replica="r-2") == Complete(event({}, "stop") + DONE)


def test_a_usage_that_came_is_told_where_it_need_not_come() -> None:
    one = Relay(chat(**USAGE), token_ids=False, must_tell_usage=False)
    whole = text("a") + event({}, "stop") + usage(5, 2) + DONE
    assert one.feed(whole) == whole


def test_a_reply_of_nothing_is_complete() -> None:
    finish = event({"content": ""}, "stop")
    assert relay().feed(event(ROLE) + finish + DONE) == event(ROLE) + finish + DONE


def test_the_last_blank_line_may_be_missing() -> None:
    one = relay()
    one.feed(text("a") + event({}, "stop") + DONE[:-2])
    assert one.end() == event({}, "stop") + DONE


def test_what_comes_behind_the_end_is_not_told() -> None:
    one = relay()
    end = event({}, "stop") + DONE
    assert one.feed(text("a") + end + text("b") + end) == text("a") + end
    assert one.feed(end) == b""
    assert one.end() == b""


def test_comments_pass_at_once_and_lines_may_end_in_crlf() -> None:
    one, stream = relay(), b": keep-alive\n\n" + text("a") + text("b")
    assert one.feed(b": keep-alive\n\n") == b": keep-alive\n\n"
    crlf = stream.replace(b"\n", b"\r\n")
    assert b"".join(one.feed(crlf[at : at + 1]) for at in range(len(crlf))) == stream


def test_json_with_spaces_passes_as_it_is() -> None:
    one, words = relay(), event({"content": "a"}) + event({"content": "b"})
    assert one.feed(words) == words
    one.feed(b"")
    continued = one.resume(replica="r-2")
    assert isinstance(continued, Continue)
    assert json.loads(continued.call.body)["messages"][-1]["content"] == "ab"


@given(st.text(min_size=1))
def test_no_text_looks_like_an_end(words: str) -> None:
    hostile = text(words + '"finish_reason":"stop"' + "\n\ndata: [DONE]\n\n" + '"finish_reason":null')
    one = relay()
    assert one.feed(hostile) + one.feed(hostile) == hostile * 2
    assert not one.is_complete


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        (b'data: {"error": {"message": "EngineCore encountered an issue.", "code": 500}}\n\n' + DONE, "EngineCore"),
        (b'event: error\ndata: {"error":"died","error_type":"x"}\n\n', "died"),
        (b'data: {"object":"error","message":"died"}\n\n', "died"),
        (b'event: error\ndata: {"message":"died"}\n\n', "reported an error"),
        (b'data: {"prompt_token_ids":[1,2\n\n', "not JSON"),
        (event({}, "abort"), "abort"),
        (DONE, "without a finish reason"),
        (b"data: no json\n\n", "not JSON"),
        (event({}, "stop") + DONE, "without its usage"),
    ],
)
def test_what_breaks_a_stream(stream: bytes, words: str) -> None:
    one = relay(chat(**USAGE))
    one.feed(text("a"))
    with pytest.raises(StreamBroken, match=words):
        one.feed(stream)
    with pytest.raises(StreamBroken, match=words):
        one.feed(text("b"))
    with pytest.raises(StreamBroken, match=words):
        one.end()


def test_what_came_before_the_break_is_handed_out_first() -> None:
    one = relay()
    one.feed(text("a"))
    assert one.feed(text("b") + b'data: {"error":"died"}\n\n' + text("c")) == text("b")
    with pytest.raises(StreamBroken, match="died"):
        one.feed(text("d"))


def test_half_an_event_at_the_end_is_not_taken_for_told() -> None:
    one = relay()
    one.feed(text("a") + text("b")[:-2])
    with pytest.raises(StreamBroken, match="cut off"):
        one.end()
    again = one.resume(replica="r-2")
    assert isinstance(again, Continue)
    assert json.loads(again.call.body)["messages"][-1]["content"] == "a"


@pytest.mark.parametrize("stream", [b"", text("a"), text("a") + event({}, "stop"), text("a")[:-3]])
def test_a_body_that_ends_early_is_broken(stream: bytes) -> None:
    one = relay()
    one.feed(stream)
    with pytest.raises(StreamBroken):
        one.end()


def test_an_event_without_end_is_broken() -> None:
    one = relay()
    one.feed(text("a"))
    with pytest.raises(StreamBroken, match="longer than"):
        one.feed(b"data: " + b"x" * (MAX_EVENT_BYTES + 1))


def test_an_engine_that_says_nothing_at_length_is_broken() -> None:
    one, silence = relay(), event({"content": ""}, padding="x" * 1_000_000)
    assert one.feed(silence * 8) == b""
    with pytest.raises(StreamBroken, match="says nothing"):
        one.feed(silence)


def test_several_choices_pass_and_all_must_finish() -> None:
    stream = [event({"content": "a"}, index=0), event({"content": "b"}, index=1), event({}, "stop", index=0)]
    one = relay(chat(n=2))
    assert one.feed(b"".join(stream)) == b"".join(stream[:2])
    assert one.feed(event({"content": "c"}, index=1)) == event({"content": "c"}, index=1)
    last = event({}, "length", index=1)
    assert one.feed(last + DONE) == stream[2] + last + DONE


def test_several_choices_are_not_continued() -> None:
    one = relay(chat(n=2))
    one.feed(event({"content": "a"}, index=1))
    assert one.resume(replica="r-2") == Stuck("several replies in one stream cannot be continued")


def test_a_held_finish_is_completed_where_all_is_known() -> None:
    engine, call = DeterministicEngine([b"a", b"b"]), chat(max_tokens=9, **USAGE)
    stream = engine.answer(Relay(call, token_ids=True).call)
    whole = undisturbed(DeterministicEngine([b"a", b"b"]), call)
    got = relayed(engine, call, cuts=[(stream.index(b'"choices":[],') - 80) / len(stream)])
    assert len(engine.calls) == 2
    assert (got.text, got.finish, got.usage, got.dones) == (whole.text, whole.finish, whole.usage, 1)


def test_a_held_usage_is_enough_to_complete() -> None:
    one = relay(chat(**USAGE))
    one.feed(text("a") + event({}, "stop") + usage(5, 2))
    assert one.resume(replica="r-2") == Complete(event({}, "stop") + usage(5, 2) + DONE)
    assert one.is_complete


def test_a_held_finish_is_enough_where_no_usage_was_asked_for() -> None:
    one = relay()
    one.feed(text("a") + event({}, "stop"))
    assert one.resume(replica="r-2") == Complete(event({}, "stop") + DONE)


def test_a_held_finish_whose_usage_nobody_knows_is_generated_again() -> None:
    one = relay(chat(**USAGE))
    one.feed(text("a") + event({"content": "b"}, "stop"))
    assert isinstance(one.resume(replica="r-2"), Continue)


def test_a_reply_with_all_its_tokens_is_ended_here() -> None:
    one = relay(chat(max_tokens=1, **{"stream_options": {"include_usage": True, "continuous_usage_stats": True}}))
    one.feed(event({"content": "a"}, usage={"prompt_tokens": 5, "completion_tokens": 1}))
    end = one.resume(replica="r-2")
    assert isinstance(end, Complete)
    finish, counts, done, _ = end.data.split(b"\n\n")
    assert json.loads(finish[6:])["choices"][0]["finish_reason"] == "length"
    assert json.loads(counts[6:])["usage"] == {"prompt_tokens": 5, "total_tokens": 6, "completion_tokens": 1}
    assert done + b"\n\n" == DONE


def test_its_usage_is_not_invented() -> None:
    one = relay(chat(max_tokens=1, **USAGE))
    one.feed(text("a"))
    stuck = one.resume(replica="r-2")
    assert isinstance(stuck, Stuck)
    assert "nobody has told" in stuck.why


def test_what_passed_unread_and_is_no_event_is_not_continued() -> None:
    one = relay()
    one.feed(text("a"))
    one.feed(b'data: {"finish_reason":null\n\n')
    assert one.resume(replica="r-2") == Stuck("what was told is not understood")


def test_an_answer_that_comes_out_differently_is_told_from_a_lost_one() -> None:
    one = relay(chat(temperature=0, response_format={"type": "json_object"}))
    one.feed(text("a"))
    assert one.resume(replica="r-2") == Continue(one.call)
    with pytest.raises(StreamBroken, match="something else"):
        one.feed(text("b"))
    assert isinstance(one.resume(replica="r-3"), Stuck)
    assert one.continued == 0


def test_a_stop_string_that_crossed_the_joint_ends_a_reply_whose_replica_is_lost_again() -> None:
    one = relay(chat(stop=["a#"]))
    one.feed(text("a"))
    one.resume(replica="r-2")
    assert one.feed(text("#")) == b""
    end = one.resume(replica="r-3")
    assert isinstance(end, Complete)
    assert b'"finish_reason":"stop","stop_reason":"a#"' in end.data


def test_a_second_replica_lost_at_once_changes_nothing() -> None:
    call = chat(max_tokens=9, temperature=0, stop=["###"])
    one = Relay(call, token_ids=True)
    for number, words in enumerate(["abc", "def"]):
        ids = {"prompt_token_ids": [7, 8]}
        choice = {"delta": {"content": words}, "finish_reason": None, "token_ids": [number]}
        one.feed(b"data: " + json.dumps({"id": "c", "choices": [choice], **ids}).encode() + b"\n\n")
    first = one.resume(replica="r-2")
    assert isinstance(first, Continue)
    assert json.loads(first.call.body)["prompt"] == [7, 8, 0]
    assert one.resume(replica="r-3") == first
    one.feed(b'data: {"id":"d","choices":[{"text":"f","finish_reason":null,"token_ids":[5]}]}\n\n')
    assert one.resume(replica="r-3") == first
    assert one.continued == 0


def test_the_joint_is_marked_and_the_reply_keeps_its_head() -> None:
    one = relay(completion())
    one.feed(b'data: {"id":"c-1","object":"text_completion","choices":[{"text":"a","finish_reason":null}]}\n\n')
    one.resume(replica="r-2")
    told = one.feed(b'data: {"id":"c-2","choices":[{"text":"b","finish_reason":null}]}\n\n')
    comment, data, _ = told.split(b"\n\n")
    assert comment == b': drillyard {"continued":1,"replica":"r-2"}'
    assert json.loads(data[6:])["id"] == "c-1"
    assert one.continued == 1


def test_reasoning_of_an_earlier_replica_is_not_forgotten() -> None:
    one = Relay(chat(max_tokens=9), token_ids=True)
    prompt = {"prompt_token_ids": [7, 8]}
    first = {"delta": {"reasoning": "hm"}, "finish_reason": None, "token_ids": [1]}
    second = {"delta": {"content": "a"}, "finish_reason": None, "token_ids": [2]}
    for choice in (first, second):
        one.feed(b"data: " + json.dumps({"id": "c", "choices": [choice], **prompt}).encode() + b"\n\n")
    again = one.resume(replica="r-2")
    assert isinstance(again, Continue)
    assert json.loads(again.call.body)["prompt"] == [7, 8, 1, 2]
    one.feed(b'data: {"id":"d","choices":[{"text":"b","finish_reason":null}]}\n\n')
    assert isinstance(one.resume(replica="r-3"), Stuck)
