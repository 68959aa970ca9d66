"""The bytes of a request, and that no header can become more than a header."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.adapters.upstream.errors import HeaderInvalid
from router.adapters.upstream.request import header_lines, request_bytes
from router.adapters.upstream.target import target_of

TARGET = target_of("http://replica-1:8000/engines/a")


def test_a_request_goes_as_http_wants_it() -> None:
    assert request_bytes(
        TARGET, "/v1/completions", header_lines([("accept", "*/*"), ("x-name", "Zoë")]), b'{"a":1}'
    ) == (
        b"POST /engines/a/v1/completions HTTP/1.1\r\nhost: replica-1:8000\r\ncontent-length: 7\r\n"
        b'accept: */*\r\nx-name: Zo\xeb\r\n\r\n{"a":1}'
    )


def test_another_method_may_be_named() -> None:
    assert request_bytes(TARGET, "/health", "", b"", method="GET").startswith(b"GET /engines/a/health HTTP/1.1\r\n")


@pytest.mark.parametrize("value", ["a\r\nb: c", "a\nb", "a\rb", "a\0b", "a\x7fb", "a\x85b\u0100", "你好", "a\n"])
def test_a_value_that_is_no_value_is_refused(value: str) -> None:
    with pytest.raises(HeaderInvalid) as caught:
        header_lines([("x-session-id", value)])
    assert value not in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", "a:", "a\r\n", "ä", "Content-Length", "transfer-encoding", "HOST", "te"])
def test_a_name_that_is_no_name_or_frames_the_body_is_refused(name: str) -> None:
    with pytest.raises(HeaderInvalid):
        header_lines([(name, "1")])


@given(st.text(), st.text(), st.binary(max_size=40))
def test_a_request_has_one_head_whatever_is_put_into_it(name: str, value: str, body: bytes) -> None:
    try:
        wire = request_bytes(TARGET, "/", header_lines([(name, value)]), body)
    except HeaderInvalid:
        return
    head, _, rest = wire.partition(b"\r\n\r\n")
    assert rest == body
    assert len(head.split(b"\r\n")) == len(head.splitlines()) == 4
