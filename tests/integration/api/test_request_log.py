import asyncio

import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from tests.integration.api.house import STREAM, House, until


def lines_of(logged: list[EventDict]) -> list[EventDict]:
    return [line for line in logged if line["event"] == "request"]


async def test_each_request_leaves_one_line_of_ids_and_numbers(house: House) -> None:
    session = await house.session()
    private = "Please keep this to yourself"
    with capture_logs() as logged:
        answer = await house.here.trainee.post(
            f"/v1/sessions/{session}/turns", json={"text": private}, headers={"X-Request-ID": "from-outside"}
        )
    (line,) = lines_of(logged)
    assert answer.headers["x-request-id"] == "from-outside"
    assert line.pop("duration_ms") > 0
    assert line.pop("account")
    assert line.pop("bytes_out") == len(answer.content)
    assert line == {
        "event": "request",
        "log_level": "info",
        "method": "POST",
        "route": "/v1/sessions/{session_id}/turns",
        "status": 200,
        "bytes_in": len(answer.request.content),
        "client": "127.0.0.0/24",
        "role": "trainee",
        "auth": "key",
        "request_id": "from-outside",
        "tenant": str(house.here.tenant),
        "session": session,
        "turn": 1,
    }
    everything = str(logged)
    key = house.here.trainee.headers["authorization"].split("_", 2)[2]
    assert private not in everything
    assert "Hello there." not in everything
    assert key not in everything


async def test_a_refused_request_leaves_a_line_without_its_words(house: House) -> None:
    with capture_logs() as logged:
        await house.nobody.get("/v1/sessions?secret=word")
        await house.nobody.get("/somewhere/else")
    first, second = lines_of(logged)
    assert (first["route"], first["status"]) == ("/v1/sessions", 401)
    assert (second["route"], second["status"]) == ("unmatched", 404)
    assert "word" not in str(logged)
    assert "somewhere" not in str(logged)


@pytest.mark.parametrize("unusable", ["", "a\tb", "x" * 129, "ü"])
async def test_an_unusable_request_id_is_replaced(house: House, unusable: str) -> None:
    headers = {b"X-Request-ID": unusable.encode("latin-1")}
    answer = await house.nobody.get("/livez", headers=headers)
    assert len(answer.headers["x-request-id"]) == 32


async def test_a_mistake_of_ours_is_logged_with_its_traceback_and_told_nothing_of(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("the secret inside")

    monkeypatch.setattr(type(house.records), "begin", broken)
    with capture_logs() as logged:
        answer = await house.here.trainee.get("/v1/scenarios", headers={"X-Request-ID": "r-1"})
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"] == "r-1"
    assert answer.json()["code"] == "internal_error"
    assert "secret" not in answer.text
    failure, line = logged
    assert failure["event"] == "request failed"
    assert failure["exc_info"]
    assert line["status"] == 500


async def test_a_client_that_leaves_within_its_body_is_no_mistake(house: House) -> None:
    host, port = house.base_url.removeprefix("http://").split(":")
    key = house.here.trainee.headers["authorization"]
    head = f"POST /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: {key}\r\nContent-Type: application/json\r\n"
    with capture_logs() as logged:
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        await writer.drain()
        await asyncio.sleep(0)
        writer.close()
        await writer.wait_closed()
        await until(lambda: lines_of(logged))
    (line,) = logged
    assert line["status"] == 499


async def test_the_line_of_a_stream_comes_at_its_end(house: House) -> None:
    go_on = asyncio.Event()
    house.tutor.script = [go_on, "Hello."]
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    with capture_logs() as logged:
        async with house.here.trainee.stream("POST", url, json={"text": "Hi"}, headers=STREAM) as response:
            assert await anext(response.aiter_raw())
            assert lines_of(logged) == []
            go_on.set()
        await until(lambda: lines_of(logged))
    (line,) = lines_of(logged)
    assert line["status"] == 200
    assert 0 < line["ttft_ms"] <= line["duration_ms"]
    assert "cut" not in line


async def test_the_line_of_a_stream_says_that_its_client_has_left(house: House) -> None:
    house.tutor.script = [asyncio.Event()]
    session = await house.session()
    with capture_logs() as logged:
        url = f"/v1/sessions/{session}/turns"
        async with house.here.trainee.stream("POST", url, json={"text": "Hi"}, headers=STREAM) as response:
            assert await anext(response.aiter_raw())
        await until(lambda: lines_of(logged))
    (line,) = lines_of(logged)
    assert (line["status"], line["cut"]) == (200, True)
    assert "ttft_ms" not in line


async def test_a_refusal_leaves_its_code(house: House) -> None:
    with capture_logs() as logged:
        await house.here.trainee.get("/v1/sessions/none")
    (line,) = lines_of(logged)
    assert (line["status"], line["code"]) == (404, "session_not_found")
