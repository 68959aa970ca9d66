"""The small bodies of operators' calls."""

import pytest

from router.http.errors import RequestInvalid
from router.http.fields import fields_of, seconds_field, text_field, texts_field


def test_an_empty_body_has_no_fields() -> None:
    assert fields_of(b"", known=("a",)) == {}
    assert fields_of(b'{"a": 1}', known=("a",)) == {"a": 1}


@pytest.mark.parametrize("wrong", [b"{", b"[]", b"\xff", b'{"b": 1}', b"[" * 100_000])
def test_what_cannot_be_meant_is_refused(wrong: bytes) -> None:
    with pytest.raises(RequestInvalid):
        fields_of(wrong, known=("a",))


def test_texts_are_texts() -> None:
    assert text_field({"a": "x"}, "a") == "x"
    assert texts_field({"a": ["x", "y"]}, "a") == ("x", "y")
    assert texts_field({}, "a") == ()
    for wrong in ({}, {"a": ""}, {"a": 1}):
        with pytest.raises(RequestInvalid):
            text_field(wrong, "a")
    for several in ({"a": "x"}, {"a": [1]}, {"a": [""]}):
        with pytest.raises(RequestInvalid):
            texts_field(several, "a")


def test_seconds_are_a_number_in_their_range() -> None:
    assert seconds_field({}, "a", most=10) is None
    assert seconds_field({"a": 3}, "a", most=10) == 3.0
    for wrong in ("3", True, -1, 11, float("nan"), float("inf")):
        with pytest.raises(RequestInvalid):
            seconds_field({"a": wrong}, "a", most=10)
