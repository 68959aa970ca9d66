"""A fault is logged by its kind and its place, never in its own words."""

from structlog.testing import capture_logs

from sessions.fault_log import log_fault

WORDS = "a secret"


def _breaks(words: str) -> None:
    raise ValueError(words)


def test_kind_and_place_are_told_and_no_words() -> None:
    with capture_logs() as logged:
        try:
            _breaks(WORDS)
        except ValueError as error:
            log_fault("it broke", error, base="b")
    [line] = logged
    assert (line["event"], line["log_level"], line["base"], line["reason"]) == ("it broke", "error", "b", "ValueError")
    assert "in _breaks" in line["traceback"]
    assert "secret" not in line["traceback"]
