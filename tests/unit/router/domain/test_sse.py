"""What one whole event says."""

import pytest

from router.domain.sse import event_data


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
