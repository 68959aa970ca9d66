import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from gateway.log_setup import set_up


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_our_lines_and_those_of_libraries_have_one_form() -> None:
    out = io.StringIO()
    set_up(level="info", layout="json", stream=out)
    structlog.get_logger("ours").info("turn placed", replica="r1", text="第一")
    logging.getLogger("theirs").warning("a %s", "b", extra={"fact": 7})
    structlog.get_logger("ours").debug("not this")
    ours, theirs = (json.loads(line) for line in out.getvalue().splitlines())
    assert (ours["event"], ours["level"], ours["replica"], ours["text"]) == ("turn placed", "info", "r1", "第一")
    assert (theirs["event"], theirs["level"], theirs["fact"]) == ("a b", "warning", 7)
    assert ours["timestamp"].endswith("Z")
    assert theirs["timestamp"].endswith("Z")


def test_no_line_holds_the_codes_of_a_terminal() -> None:
    out = io.StringIO()
    set_up(level="info", layout="json", stream=out)
    logging.getLogger("theirs").info("Started [%d]", 7, extra={"color_message": "Started [\x1b[36m%d\x1b[0m]"})
    line = json.loads(out.getvalue())
    assert (line["event"], "color_message" in line) == ("Started [7]", False)


def test_a_traceback_never_shows_local_variables() -> None:
    for layout in ("json", "console"):
        out = io.StringIO()
        set_up(level="info", layout=layout, stream=out)
        _fail("what the trainee wrote")
        assert "ZeroDivisionError" in out.getvalue()
        assert "what the trainee wrote" not in out.getvalue()


def _fail(text: str) -> None:
    try:
        _ = len(text) / 0
    except ZeroDivisionError:
        structlog.get_logger("ours").exception("failed")
        logging.getLogger("theirs").exception("failed")


def test_the_http_client_does_not_write_a_line_per_request() -> None:
    out = io.StringIO()
    set_up(level="debug", layout="json", stream=out)
    logging.getLogger("httpx").info("HTTP Request: GET ...")
    logging.getLogger("asyncio").debug("Using selector")
    assert out.getvalue() == ""
