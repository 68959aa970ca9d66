"""Events that no engine wrote look like those of the reply."""

import json

from router.domain.chunk import Counts, read_chunk
from router.domain.envelope import envelope_of, joint_comment, written
from router.domain.sse import event_data

DOCUMENT = {"id": "c-1", "object": "chat.completion.chunk", "created": 5, "model": "m", "choices": [], "usage": None}
CHAT = envelope_of(DOCUMENT, is_chat=True)
COMPLETION = envelope_of({"id": "c-1"}, is_chat=False)


def document(event: bytes) -> dict[str, object]:
    read: dict[str, object] = json.loads(event_data(event.removesuffix(b"\n\n")) or b"")
    return read


def test_a_finish_has_the_head_of_the_reply() -> None:
    finish = document(CHAT.finish(stop=None))
    choice = {"index": 0, "delta": {"content": ""}, "logprobs": None, "finish_reason": "length", "stop_reason": None}
    assert finish == {"id": "c-1", "object": "chat.completion.chunk", "created": 5, "model": "m", "choices": [choice]}


def test_a_finish_at_a_stop_string_says_which() -> None:
    choice = read_chunk(event_data(COMPLETION.finish(stop="##").strip()) or b"").choice
    assert (choice["finish_reason"], choice["stop_reason"], choice["text"]) == ("stop", "##", "")


def test_a_usage_adds_up() -> None:
    usage = document(CHAT.usage(Counts(5, 2)))["usage"]
    assert usage == {"prompt_tokens": 5, "total_tokens": 7, "completion_tokens": 2}


def test_half_a_character_does_not_stop_the_stream() -> None:
    assert written({"a": "x\ud800收"}) == 'data: {"a":"x?收"}\n\n'.encode()


def test_the_joint_is_told_in_a_comment() -> None:
    assert joint_comment(continued=2, replica="r-1") == b': drillyard {"continued":2,"replica":"r-1"}\n\n'
    assert joint_comment(continued=1, replica='r"1') == b': drillyard {"continued":1,"replica":"r\\"1"}\n\n'
