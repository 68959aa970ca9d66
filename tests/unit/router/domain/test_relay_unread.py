"""What a relay hands out unread, however much of a reply comes at a time, and what it knows of it afterwards."""

import pytest

from router.domain.exchange import Call, CallPath
from router.domain.relay import Relay
from router.domain.resume import Continue

BODY = b'{"model":"m","messages":[{"role":"user","content":"Tell."}],"stream":true}'
CALL = Call(CallPath.CHAT, BODY, "m", is_streamed=True, request_id="r-1")
WORDS = ("Once", " upon", " a", " time", ".")
COMMENT = b": still here\n\n"
DONE = b"data: [DONE]\n\n"


def event(text: str, finish: str = "null") -> bytes:
    choice = f'{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":{finish}}}'
    return f'data: {{"id":"c-1","object":"chat.completion.chunk","created":1,"choices":[{choice}]}}\n\n'.encode()


EVENTS = [event(word) for word in WORDS]
END = event("", '"stop"') + DONE


def begun() -> Relay:
    relay = Relay(CALL, token_ids=False)
    assert relay.feed(EVENTS[0]) == EVENTS[0]
    return relay


@pytest.mark.parametrize("at", range(1, len(EVENTS) + 1))
def test_the_rest_may_come_with_the_end(at: int) -> None:
    relay = begun()
    heard = relay.feed(b"".join(EVENTS[1:at])) + relay.feed(b"".join(EVENTS[at:]) + END)
    assert heard == b"".join(EVENTS[1:]) + END
    assert relay.is_complete


def test_all_of_it_may_come_at_once() -> None:
    relay = Relay(CALL, token_ids=False)
    assert relay.feed(b"".join(EVENTS) + END) == b"".join(EVENTS) + END
    assert relay.is_complete


def test_a_comment_among_them_keeps_its_place() -> None:
    relay = begun()
    data = EVENTS[1] + COMMENT + b"".join(EVENTS[2:]) + END
    assert relay.feed(data) == data
    assert relay.is_complete


def test_what_breaks_behind_them_breaks_after_they_were_handed_out() -> None:
    relay = begun()
    assert relay.feed(EVENTS[1] + EVENTS[2] + event("", '"abort"') + EVENTS[3]).startswith(EVENTS[1] + EVENTS[2])


def test_a_reply_goes_on_behind_what_went_out_unread() -> None:
    relay = begun()
    assert relay.feed(EVENTS[1] + COMMENT + EVENTS[2]) == EVENTS[1] + COMMENT + EVENTS[2]
    step = relay.resume(replica="b")
    assert isinstance(step, Continue)
    assert b"Once upon a" in step.call.body
