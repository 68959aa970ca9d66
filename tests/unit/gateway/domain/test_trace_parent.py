"""Which traces of callers are continued."""

import pytest

from gateway.domain.trace_parent import trace_parent

SOUND = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_trace_is_continued() -> None:
    assert trace_parent([SOUND]) == SOUND


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [SOUND, SOUND],
        [SOUND.upper()],
        [SOUND + "\n"],
        ["00-" + "0" * 32 + "-b7ad6b7169203331-01"],
        ["00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01"],
        ["nonsense\r\nX: y"],
    ],
)
def test_what_is_none_is_left_alone(headers: list[str]) -> None:
    assert trace_parent(headers) == ""
