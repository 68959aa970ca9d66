import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.accept import EVENT_STREAM, JSON, MAX_HEADER_CHARS, MediaRange, preferred, ranges
from gateway.errors import AcceptMalformed, NotAcceptable

BOTH = (JSON, EVENT_STREAM)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, JSON),
        ("", JSON),
        (" , ,", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/json", JSON),
        ("APPLICATION/JSON", JSON),
        ("text/event-stream", EVENT_STREAM),
        ("Text/Event-Stream;q=0.001", EVENT_STREAM),
        ("text/*", EVENT_STREAM),
        ("text/event-stream, */*", EVENT_STREAM),
        ("*/*, text/event-stream", EVENT_STREAM),
        ("text/event-stream;q=0.5, */*", JSON),
        ("application/json, text/event-stream", JSON),
        ("text/event-stream, application/json", EVENT_STREAM),
        ("application/json;q=0.9, text/event-stream;q=1.0", EVENT_STREAM),
        ("application/json;q=0, */*", EVENT_STREAM),
        ("text/html,application/xhtml+xml,*/*;q=0.8", JSON),
        ("text/event-stream; charset=utf-8", EVENT_STREAM),
        ('text/event-stream; note="a, b;q=0 \\" c"', EVENT_STREAM),
        ("text/event-stream ; q=0.2 , application/json ; q=0.1", EVENT_STREAM),
        ("application/json;q=1.000", JSON),
        ("application/json;;", JSON),
    ],
)
def test_the_callers_wish_decides(header: str | None, expected: str) -> None:
    assert preferred(header, BOTH) == expected


@pytest.mark.parametrize("header", ["image/png", "*/*;q=0", "application/*;q=0, text/*;q=0.0", "text/plain"])
def test_a_wish_that_cannot_be_met_is_refused(header: str) -> None:
    with pytest.raises(NotAcceptable, match=r"application/json or text/event-stream"):
        preferred(header, BOTH)


@pytest.mark.parametrize(
    "header",
    [
        *("text", "text/", "/json", "*/json", "a/b c/d", "a/b;q=2", "a/b;q=1.001", "a/b;q=.5", "a/b;q=0.1234"),
        *("a/b;q=", "a/b;q=-1", "a/b;q=٠", 'a/b;x="', "a//b", "a/b;x=", "\x00", "ä/b", "a/b\r\n"),
        "a/b," * MAX_HEADER_CHARS,
    ],
)
def test_what_is_no_list_of_media_ranges_is_malformed(header: str) -> None:
    with pytest.raises(AcceptMalformed):
        preferred(header, BOTH)


def test_a_range_is_read_with_weight_and_place() -> None:
    assert ranges("a/b;q=0.5, C/*") == (MediaRange("a", "b", 0.5, 0), MediaRange("c", "*", 1.0, 1))


@given(st.text(alphabet='ab/*;q=0.1, "\\', max_size=60))
def test_any_header_is_answered_or_refused_in_our_words(header: str) -> None:
    with suppress(AcceptMalformed, NotAcceptable):
        assert preferred(header, BOTH) in BOTH


@pytest.mark.parametrize("piece", ["; ", " ;  ;", 'a/b;x="\\', " ", "a/b;q=0.1 ;", ";a=b ", "a/b \t"])
def test_no_header_keeps_the_reader_busy(piece: str) -> None:
    header = "a/b" + (piece * MAX_HEADER_CHARS)[: MAX_HEADER_CHARS - 4] + "\x01"
    began = time.process_time()
    with pytest.raises(AcceptMalformed):
        preferred(header, BOTH)
    assert time.process_time() - began < 0.1
