import json

import pytest

from loadtests.continuity.heard import HeardReply, differences


def event(**fields: object) -> str:
    return "data: " + json.dumps({"id": "chatcmpl-1", **fields})


def choice(content: str | None = None, *, finish: str | None = None, **delta: object) -> dict[str, object]:
    told = delta if content is None else {**delta, "content": content}
    return {"index": 0, "delta": told, "finish_reason": finish}


WHOLE = [
    event(choices=[choice("", role="assistant")]),
    "",
    event(choices=[choice("Good ")]),
    event(choices=[choice("day")]),
    event(choices=[choice("", finish="stop")]),
    event(choices=[], usage={"prompt_tokens": 9, "completion_tokens": 3}),
    "data: [DONE]",
]


def heard(*lines: str) -> HeardReply:
    reply = HeardReply()
    for line in lines:
        reply.line(line)
    return reply


def test_a_whole_reply_is_understood() -> None:
    reply = heard(*WHOLE)
    assert (reply.text, reply.finish, reply.is_done) == ("Good day", "stop", True)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.events) == (9, 3, 6)
    assert differences(reply, heard(*WHOLE)) == []


def test_a_comment_at_a_joint_is_no_difference() -> None:
    reply = heard(*WHOLE[:3], ": continued at replica-2", *WHOLE[3:])
    assert reply.joints == 1
    assert differences(reply, heard(*WHOLE)) == []


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (WHOLE[:-1], "it has no end"),
        ([*WHOLE[:3], *WHOLE[2:]], "text differs at 5 of 8: 'Good day' instead of 'day'"),
        ([*WHOLE[:3], *WHOLE[4:]], "text differs at 5 of 8: '' instead of 'day'"),
        ([*WHOLE[:4], *WHOLE[5:]], "finish reason None instead of stop"),
        ([*WHOLE[:5], *WHOLE[6:]], "usage (None, None) instead of (9, 3)"),
        ([WHOLE[0], *WHOLE], "1 ids and 2 roles"),
        ([WHOLE[0].replace("chatcmpl-1", "chatcmpl-2"), *WHOLE[1:]], "2 ids and 1 roles"),
        ([*WHOLE, WHOLE[-1]], "an event after the end"),
        ([*WHOLE[:3], event(error="lost"), *WHOLE[3:]], "error event: lost"),
    ],
)
def test_whatever_a_caller_could_tell_is_a_difference(lines: list[str], told: str) -> None:
    assert told in differences(heard(*lines), heard(*WHOLE))


def test_tokens_need_not_be_compared() -> None:
    assert differences(heard(*WHOLE[:5], WHOLE[-1]), heard(*WHOLE), counts_tokens=False) == []
