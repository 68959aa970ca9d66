from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.api_faults import ApiAnswerMalformed
from gateway.cli.event_stream import MAX_EVENT_BYTES, EventReader, ServerEvent

STREAM = (
    ": still here\n\n"
    'id: 1-1\nevent: delta\ndata: {"text":"你好\u2028 there"}\n\n'
    "retry: 5\nevent: two lines\ndata: one\ndata:two\n\n"
    "data\n\n"
    "id: 1-3\nevent: done\ndata: {}\n\n"
)
EVENTS = [
    ServerEvent("delta", '{"text":"你好\u2028 there"}', "1-1"),
    ServerEvent("two lines", "one\ntwo", "1-1"),
    ServerEvent("message", "", "1-1"),
    ServerEvent("done", "{}", "1-3"),
]


def read(pieces: list[bytes]) -> list[ServerEvent]:
    reader = EventReader()
    return [event for piece in pieces for event in reader.feed(piece)]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@given(cuts=st.lists(st.integers(0, 200), max_size=12))
def test_any_cutting_of_the_bytes_gives_the_same_events(ending: str, cuts: list[int]) -> None:
    # The comment at the end releases an event whose last CR could have been half of a CRLF.
    text = (STREAM + ": end").replace("\n", ending).encode()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert read(pieces) == EVENTS


def test_bytes_that_come_one_by_one_give_the_same_events() -> None:
    assert read([bytes([byte]) for byte in STREAM.encode()]) == EVENTS


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert read(["\ufeffdata: x\n\n".encode()]) == [ServerEvent("message", "x", "")]


def test_an_event_that_was_not_finished_is_none() -> None:
    assert read([b"event: done\ndata: {}\n"]) == []


def test_an_id_with_a_null_character_is_left_out() -> None:
    assert read([b"id: a\0b\ndata: x\n\n"]) == [ServerEvent("message", "x", "")]


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 65_536, b"data: " + b"x" * 65_536 + b"\n"])
def test_an_event_without_end_is_refused(piece: bytes) -> None:
    with pytest.raises(ApiAnswerMalformed):
        read([piece] * (MAX_EVENT_BYTES // 65_536 + 1))
