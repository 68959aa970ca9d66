"""Bytes cut anywhere become the same events."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.sse import EventTooLong, SseDecoder, event_data

STREAM = (
    ": keep-alive\n\ndata: eins 收到\n\ndata:zwei\r\ndata: 😀\u2028\r\n\r\nevent: x\nid: 7\n\ndata: [DONE]\n\n".encode()
)
EVENTS = ["eins 收到", "zwei\n😀\u2028", "[DONE]"]


def fed(pieces: list[bytes]) -> list[str]:
    decoder = SseDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)]


def test_any_two_cuts_give_the_same_events() -> None:
    for first in range(len(STREAM) + 1):
        for second in range(first, len(STREAM) + 1, 7):
            assert fed([STREAM[:first], STREAM[first:second], STREAM[second:]]) == EVENTS


def test_single_bytes_give_the_same_events() -> None:
    assert fed([STREAM[at : at + 1] for at in range(len(STREAM))]) == EVENTS


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))), st.randoms())
def test_whatever_was_written_comes_out(texts: list[str], dice: Random) -> None:
    stream = "".join(f"data: {text}\n\n" for text in texts).encode()
    cut = dice.randint(0, len(stream))
    assert fed([stream[:cut], stream[cut:]]) == texts


def test_an_unfinished_event_is_not_told() -> None:
    assert fed([b"data: a\n"]) == []


def test_bytes_that_are_no_text_do_not_stop_the_stream() -> None:
    assert fed([b"data: a\xff\xfeb\n\n"]) == ["a\ufffd\ufffdb"]


@pytest.mark.parametrize("piece", [b"data: 0123456789", b"data: 0123\ndata: 4567\ndata: 89"])
def test_an_event_without_end_is_an_error_and_not_a_full_memory(piece: bytes) -> None:
    with pytest.raises(EventTooLong):
        SseDecoder(max_event_bytes=9).feed(piece)


def test_many_short_events_in_one_piece_are_no_long_event() -> None:
    assert len(SseDecoder(max_event_bytes=9).feed(b"data: 1\n\n" * 100)) == 100


@pytest.mark.parametrize(
    ("block", "data"),
    [
        (b"data: a", b"a"),
        (b"data:a", b"a"),
        (b"data:  a", b" a"),
        (b"event: x\nid: 7\ndata: a\ndata:b", b"a\nb"),
        (b": keep-alive", None),
        (b"event: x", None),
        (b"", None),
    ],
)
def test_the_data_of_one_whole_event(block: bytes, data: bytes | None) -> None:
    assert event_data(block) == data
