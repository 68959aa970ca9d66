"""What a recorded chat stream means, and what does not count as complete."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.engine_stream import EngineStream, storable
from router.domain.exchange import Finished, FinishReason, StreamItem, TextPiece, Usage
from router.domain.fleet import ReplicaId
from router.errors import EngineBroke

REPLICA = ReplicaId("replica-1")
RECORDINGS = Path(__file__).with_name("recordings")
SENTENCE = "The capital of France is Paris."
COMPLETE = {
    "chat_stream_usage": (SENTENCE, Finished(FinishReason.STOP, Usage(27, 0, 8))),
    "chat_stream_length": ("The capital of", Finished(FinishReason.LENGTH, Usage(27, 0, 3))),
    "chat_stream_stop_string": ("The capital of France is", Finished(FinishReason.STOP, Usage(27, 0, 6))),
    "chat_stream_usage_continuous": (SENTENCE, Finished(FinishReason.STOP, Usage(27, 0, 8))),
}
DONE = "[DONE]"
USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}}


def recorded(name: str) -> bytes:
    return (RECORDINGS / f"{name}.sse").read_bytes()


def items_of(*pieces: bytes) -> list[StreamItem]:
    stream = EngineStream(replica=REPLICA)
    return [item for piece in pieces for item in stream.feed(piece)]


def chunk(content: str | None = None, reason: str | None = None) -> str:
    delta = {} if content is None else {"content": content}
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


def usage(**changes: object) -> str:
    return json.dumps({"choices": [], "usage": {**USAGE, **changes}})


def fed(*events: str) -> list[StreamItem]:
    return items_of(*(f"data: {event}\n\n".encode() for event in events))


@pytest.mark.parametrize("name", COMPLETE)
def test_a_recorded_stream_gives_its_text_and_its_end(name: str) -> None:
    *pieces, end = items_of(recorded(name))
    text, finished = COMPLETE[name]
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)) == text
    assert end == finished


@pytest.mark.parametrize("name", COMPLETE)
def test_events_that_come_one_by_one_say_what_they_say_together(name: str) -> None:
    events = [event + b"\n\n" for event in recorded(name).split(b"\n\n")[:-1]]
    assert len(events) > 3
    assert items_of(*events) == items_of(recorded(name))


def test_what_comes_after_the_end_is_not_heard() -> None:
    assert fed(chunk("a", "stop"), DONE, chunk("b"), DONE) == [TextPiece("a"), Finished(FinishReason.STOP, None)]


def test_a_dying_engine_does_not_look_complete() -> None:
    error = json.dumps({"error": {"message": "EngineCore encountered an issue.", "code": 500}})
    with pytest.raises(EngineBroke, match="EngineCore encountered an issue") as caught:
        fed(chunk("half a sen"), error, DONE)
    assert caught.value.replica == REPLICA


def test_a_usage_that_is_not_told_is_unknown() -> None:
    *_, end = items_of(recorded("continue_ok_stream"))
    assert end == Finished(FinishReason.STOP, None)


def test_done_without_a_finish_reason_is_broken() -> None:
    with pytest.raises(EngineBroke, match="without a finish reason"):
        fed(chunk("text"), usage(), DONE)


@pytest.mark.parametrize("reason", ["abort", "error", "", ["stop"]])
def test_another_finish_reason_is_broken(reason: str) -> None:
    with pytest.raises(EngineBroke, match="ended the reply with the reason"):
        fed(chunk("", reason))


def test_the_bytes_ending_before_done_is_broken() -> None:
    with pytest.raises(EngineBroke, match="cut off"):
        items_of(f"data: {chunk('text', 'stop')}\n\n".encode(), b"")


@pytest.mark.parametrize("event", ["{", "[]", "null", '"a"', "[" * 100_000])
def test_an_event_that_is_no_object_is_broken(event: str) -> None:
    with pytest.raises(EngineBroke, match="JSON"):
        fed(event)


@pytest.mark.parametrize("choice", [None, "text", 1])
def test_a_choice_that_is_no_object_is_broken(choice: object) -> None:
    with pytest.raises(EngineBroke, match="choice"):
        fed(json.dumps({"choices": [choice]}))


@pytest.mark.parametrize("event", ['{"usage": 3}', '{"usage": {"prompt_tokens": "5", "completion_tokens": 1}}'])
def test_a_usage_without_counts_is_broken(event: str) -> None:
    with pytest.raises(EngineBroke, match="usage"):
        fed(event)


@pytest.mark.parametrize("details", [None, {}, {"cached_tokens": None}])
def test_missing_details_of_the_prompt_mean_nothing_cached(details: object) -> None:
    assert fed(chunk("", "stop"), usage(prompt_tokens_details=details), DONE) == [
        Finished(FinishReason.STOP, Usage(5, 0, 2))
    ]


def test_the_last_text_may_ride_in_the_finish_chunk() -> None:
    items = fed(chunk("a"), chunk("b", "length"), usage(), DONE)
    assert items == [TextPiece("a"), TextPiece("b"), Finished(FinishReason.LENGTH, Usage(5, 1, 2))]


def test_a_chunk_without_text_is_no_item() -> None:
    assert fed(chunk(""), chunk(None), '{"choices": [{"delta": null}]}', '{"choices": []}', "{}") == []


def test_a_reply_without_text_is_complete() -> None:
    assert fed(chunk("", "stop"), usage(), DONE) == [Finished(FinishReason.STOP, Usage(5, 1, 2))]


def test_text_of_nothing_but_nul_is_no_item() -> None:
    assert fed(chunk("\0"), chunk("a\0b")) == [TextPiece("ab")]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\0b", "ab"),
        ("收到\0", "收到"),
        ("\ud83d\ude00", "😀"),
        ("a\ud800b", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("", ""),
    ],
)
def test_only_what_can_be_stored_is_kept(text: str, kept: str) -> None:
    assert storable(text) == kept


@given(st.text(st.characters()))
def test_what_is_storable_can_be_written_and_is_left_alone(text: str) -> None:
    kept = storable(text)
    assert "\0" not in kept
    kept.encode()
    assert storable(kept) == kept
