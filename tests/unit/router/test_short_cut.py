"""What may pass a turn that waits, and what it has to read itself."""

import pytest

from router.domain.exchange import Call, CallPath
from router.domain.relay import Relay
from router.short_cut import ShortCut

CALL = Call(CallPath.CHAT, b'{"stream":true}', "m", is_streamed=True, request_id="r-1")


def event(text: str, finish: str = "null") -> bytes:
    choice = f'{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":{finish}}}'
    return f'data: {{"id":"c-1","object":"chat.completion.chunk","choices":[{choice}]}}\n\n'.encode()


class Caller:
    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.is_slow = False

    def __call__(self, data: bytes) -> bool:
        if not self.is_slow:
            self.heard.append(data)
        return not self.is_slow


def begun() -> Relay:
    relay = Relay(CALL, token_ids=False)
    assert relay.feed(event("Once"))
    return relay


def test_ordinary_events_go_to_the_caller_and_are_known_afterwards() -> None:
    relay, caller = begun(), Caller()
    cut = ShortCut(relay, caller)
    assert cut(event(" upon") + event(" a"))
    assert cut(event(" time."))
    assert caller.heard == [event(" upon") + event(" a"), event(" time.")]
    assert relay.feed(event("", '"stop"') + b"data: [DONE]\n\n")
    assert relay.is_complete


@pytest.mark.parametrize(
    "data",
    [
        event(" upon")[:-1],
        event(" upon") + b"data: {",
        event(" upon") + event("", '"stop"'),
        event(" upon").replace(b"\n", b"\r\n"),
        b"data: [DONE]\n\n",
        b": comment\n\n",
    ],
)
def test_anything_else_is_left_to_the_turn(data: bytes) -> None:
    caller = Caller()
    assert not ShortCut(begun(), caller)(data)
    assert caller.heard == []


def test_nothing_passes_before_the_first_word_or_behind_half_an_event() -> None:
    caller, fresh, begun_and_cut = Caller(), Relay(CALL, token_ids=False), begun()
    assert begun_and_cut.feed(event(" upon")[:10]) == b""
    assert not ShortCut(fresh, caller)(event("Once"))
    assert not ShortCut(begun_and_cut, caller)(event(" a"))
    assert caller.heard == []


def test_what_the_caller_cannot_take_now_is_not_told() -> None:
    relay, caller = begun(), Caller()
    caller.is_slow = True
    assert not ShortCut(relay, caller)(event(" upon"))
    assert relay.feed(event(" upon")) == event(" upon")
