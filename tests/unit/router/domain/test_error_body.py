"""The engine's own words, whatever the shape of its error."""

import pytest

from router.domain.error_body import error_message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "too long", "code": 400}}, "too long"),
        ({"error": "Unauthorized"}, "Unauthorized"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"error": {"message": ""}}, "no message"),
        ({"error": {"message": 3}}, "no message"),
        ({}, "no message"),
        ([], "no message"),
        (None, "no message"),
        ({"error": {"message": "x" * 900}}, "x" * 200),
    ],
)
def test_the_engines_words_are_found_in_every_shape(body: object, message: str) -> None:
    assert error_message(body) == message


def test_what_the_engine_repeats_of_the_request_is_left_out() -> None:
    body = {"error": {"message": "1 validation error:\n  {'input': 'my secret'}"}}
    assert error_message(body) == "1 validation error:"
