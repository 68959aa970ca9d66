"""The end is handed out only when it is whole."""

import json

import pytest

from router.domain.chunk import Chunk, Counts, read_chunk
from router.domain.ending import Ending
from router.errors import StreamBroken

DONE = b"data: [DONE]\n\n"


def chunk(reason: str | None = None, *, index: int = 0, **rest: object) -> Chunk:
    choice = {"index": index, "delta": {"content": "a"}, "finish_reason": reason}
    return read_chunk(json.dumps({"choices": [choice], **rest}).encode())


def usage() -> Chunk:
    return read_chunk(b'{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}')


def test_finish_and_usage_are_handed_out_upon_done() -> None:
    ending = Ending()
    assert not ending.is_at(chunk())
    assert ending.is_at(chunk("stop"))
    ending.hold(chunk("stop"), b"F")
    assert ending.is_at(usage())
    ending.hold_comment(b"C")
    ending.hold(usage(), b"U")
    assert ending.counts == Counts(5, 2)
    assert ending.whole(wants_usage=True) == b"FCU" + DONE
    assert ending.completed(b"V") == b"FCU" + DONE


def test_done_without_finish_is_broken() -> None:
    with pytest.raises(StreamBroken, match="finish reason"):
        Ending().whole(wants_usage=False)


def test_a_usage_that_was_asked_for_must_come() -> None:
    ending = Ending()
    ending.hold(chunk("stop"), b"F")
    with pytest.raises(StreamBroken, match="usage"):
        ending.whole(wants_usage=True)
    assert ending.whole(wants_usage=False) == b"F" + DONE
    assert ending.completed(b"V") == b"FV" + DONE


def test_the_usage_may_ride_in_the_finish_chunk() -> None:
    ending = Ending()
    ending.hold(chunk("length", usage={"prompt_tokens": 5, "completion_tokens": 2}), b"F")
    assert ending.whole(wants_usage=True) == b"F" + DONE


def test_several_choices_all_have_to_finish() -> None:
    ending = Ending(choices=2)
    ending.hold(chunk("stop", index=0), b"F")
    assert not ending.is_at(chunk(index=1))
    assert not ending.has_finish
    ending.hold(chunk("stop", index=1), b"G")
    assert ending.whole(wants_usage=False) == b"FG" + DONE
