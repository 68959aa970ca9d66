"""Lines are stamped when they are there, not when a block of them is."""

import threading
import time
from contextlib import ExitStack

import pytest

from loadtests.users.caller import Caller, Lost
from tests.support.scripted_http import Scripted, scripted_http, streamed, whole


def test_each_line_is_stamped_as_it_comes() -> None:
    may_go_on = threading.Event()

    def later() -> bytes:
        assert may_go_on.wait(5)
        return b"data: two\n\n"

    with scripted_http(streamed(b"data: one\n", later)) as server, Caller(server.url, key="k", patience_s=5) as caller:
        lines = caller.send("GET", "/x").lines()
        stamp, line = next(lines)
        assert line == b"data: one"
        told = time.perf_counter()
        assert stamp <= told
        may_go_on.set()
        rest = list(lines)
    assert [line for _, line in rest] == [b"data: two", b""]
    assert rest[0][0] > told


def test_a_request_brings_its_key_and_asks_for_no_packing() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(scripted_http(whole(200, {"id": "x"}), whole(200, {})))
        caller = stack.enter_context(Caller(f"{server.url}/base/", key="k", patience_s=5))
        assert caller.send_json("POST", "/v1/x", {"a": "ü"}).json() == {"id": "x"}
        caller.send("GET", "/v1/y", headers={"Authorization": None}).body()
    first, second = server.requests
    assert (first.method, first.path, first.content) == ("POST", "/base/v1/x", {"a": "ü"})
    assert (first.headers["authorization"], first.headers["accept-encoding"]) == ("Bearer k", "identity")
    assert "authorization" not in second.headers


def test_one_connection_serves_one_request_after_the_other_and_no_json_is_none() -> None:
    broken = Scripted([b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{"])
    with scripted_http(whole(200, {}), broken) as server, Caller(server.url, key=None, patience_s=5) as caller:
        caller.send("GET", "/").body()
        assert caller.send("GET", "/").json() is None


@pytest.mark.parametrize("cut", [streamed(b"data: one\n", cuts=True), streamed(b"data: o", cuts=True)])
def test_a_stream_that_breaks_off_is_lost(cut: Scripted) -> None:
    with scripted_http(cut) as server, Caller(server.url, key=None, patience_s=5) as caller, pytest.raises(Lost):
        list(caller.send("GET", "/").lines())


def test_a_connection_that_cannot_be_made_or_is_closed_is_lost() -> None:
    with scripted_http() as server:
        url = server.url
        with Caller(url, key=None, patience_s=5) as caller, pytest.raises(Lost):
            caller.send("POST", "/")
    with Caller(url, key=None, patience_s=5) as caller, pytest.raises(Lost):
        caller.send("GET", "/")
