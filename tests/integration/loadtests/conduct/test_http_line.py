"""Small questions over one connection."""

import pytest

from loadtests.conduct.http_line import HttpLine, Unanswered
from tests.support.engine_process import free_port
from tests.support.pages import pages
from tests.support.simulator_process import simulator


def test_a_page_and_the_key_it_needs() -> None:
    with pages({"/v1/fleet": '{"replicas": []}'}) as served, HttpLine(served.url + "/v1/") as line:
        assert line.get("/fleet", key="dy_1") == b'{"replicas": []}'
        assert line.get_object("/fleet") == {"replicas": []}
        assert served.asked == [("/v1/fleet", "Bearer dy_1"), ("/v1/fleet", None)]


def test_a_connection_that_was_closed_meanwhile_is_made_once_more() -> None:
    with pages({"/metrics": "x 1"}) as served, HttpLine(served.url) as line:
        served.hangs_up = True
        assert [line.get("/metrics") for _ in range(3)] == [b"x 1"] * 3


def test_other_answers_are_none() -> None:
    with pages({"/text": "hello", "/list": "[]"}) as served, HttpLine(served.url) as line:
        with pytest.raises(Unanswered, match="HTTP 404"):
            line.get("/nothing")
        with pytest.raises(Unanswered, match="JSON"):
            line.get_object("/text")
        with pytest.raises(Unanswered, match="JSON object"):
            line.get_object("/list")


def test_a_key_that_is_not_taken_is_said_to_be_the_reason() -> None:
    with simulator("--api-key", "k1") as replica, HttpLine(replica.url) as line:
        with pytest.raises(Unanswered, match="/v1/models is answered with HTTP 401: it wants a key"):
            line.get("/v1/models")
        with pytest.raises(Unanswered, match="it does not take this key"):
            line.get("/v1/models", key="k2")
        assert line.get("/v1/models", key="k1")


def test_nobody_there() -> None:
    with HttpLine(f"http://127.0.0.1:{free_port()}") as line, pytest.raises(Unanswered, match="refused"):
        line.get("/metrics")
