"""The mock engine's bytes have the shape of the recorded ones."""

import json
import re

from loadtests.overhead.wire import counted, page, stream, whole


def events(data: bytes) -> list[bytes]:
    return re.findall(rb"data: (.*)\n\n", data)


def test_frames_say_their_own_length() -> None:
    made = stream(0, has_token_ids=True)
    frames = made.start.partition(b"\r\n\r\n")[2] + made.piece(7) + made.end
    while frames:
        size, _, rest = frames.partition(b"\r\n")
        assert rest[int(size, 16) :].startswith(b"\r\n")
        frames = rest[int(size, 16) + 2 :]


def test_a_piece_tells_when_it_was_sent() -> None:
    (event,) = events(stream(0, has_token_ids=False).piece(42))
    (choice,) = json.loads(event)["choices"]
    assert (choice["delta"], choice["finish_reason"]) == ({"content": "000000000000042"}, None)


def test_token_ids_are_told_only_where_they_are_asked_for() -> None:
    for wanted in (False, True):
        made = stream(1, has_token_ids=wanted)
        first, piece = json.loads(events(made.start)[0]), json.loads(events(made.piece(1))[0])
        assert (first["prompt_token_ids"] is not None, piece["choices"][0]["token_ids"] is not None) == (wanted, wanted)


def test_a_stream_ends_as_vllms_does() -> None:
    *_, last, done = events(stream(0, has_token_ids=False).end)
    assert json.loads(last)["choices"][0]["finish_reason"] == "stop"
    assert done == b"[DONE]"


def test_usage_is_told_only_where_it_is_asked_for() -> None:
    *_, told, done = events(stream(0, has_token_ids=False, has_usage=True).end)
    assert (json.loads(told)["choices"], json.loads(told)["usage"]["prompt_tokens"], done) == ([], 270, b"[DONE]")
    assert len(events(stream(0, has_token_ids=False).end)) == 2


def test_whole_answers_and_pages_are_json_of_the_told_length() -> None:
    for answer in (whole(0), page("/v1/models"), page("/version"), page("/tokenize"), counted(7), page("/nowhere")):
        head, _, body = answer.partition(b"\r\n\r\n")
        assert f"content-length: {len(body)}".encode() in head
        assert json.loads(body)
    assert page("/health").startswith(b"HTTP/1.1 200")
    assert page("/nowhere").startswith(b"HTTP/1.1 404")
    assert b"vllm:num_requests_running" in page("/metrics")
