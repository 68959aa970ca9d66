"""Chats: the client keeps the history, and whoever goes away has not failed."""

import json
from pathlib import Path

import pytest

from loadtests.domain.drill import Affinity, Drill, Shape, Wire
from loadtests.domain.part import Act, Ask
from loadtests.domain.rows import Kind, Row
from loadtests.users.chat_wire import ChatWire
from loadtests.users.message import Message
from tests.support.load_stage import place, rows_in, stage
from tests.support.scripted_http import Scripted, ScriptedHttp, scripted_http, streamed, whole

CHAT = Drill(wire=Wire.CHAT)


def reply(text: str, *, replica: str | None = None) -> Scripted:
    head = {"choices": [{"delta": {"role": "assistant", "content": ""}}]}
    chunk = {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}
    lines = [f"data: {json.dumps(each)}\n\n".encode() for each in (head, chunk, usage)]
    return streamed(*lines, b"data: [DONE]\n\n", X_Replica_ID=replica or "")


def chatted(
    folder: Path, *answers: Scripted, asks: int = 1, drill: Drill = CHAT, ask: Ask | None = None
) -> tuple[list[Row], ScriptedHttp]:
    with scripted_http(*answers) as server:
        here = stage(folder, server.url, drill=drill)
        with ChatWire(here, 0) as wire:
            for turn in range(1, asks + 1):
                wire.take(place(ask, turn=turn), Message(f"message {turn}"))
        here.book.close()
    return rows_in(folder), server


def said(server: ScriptedHttp) -> list[list[str]]:
    contents = [request.content for request in server.requests]
    return [
        [message["content"] for message in content["messages"]] for content in contents if isinstance(content, dict)
    ]


def test_a_chat_is_one_row_and_names_its_session(tmp_path: Path) -> None:
    (row,), server = chatted(tmp_path, reply("Yes", replica="r1"))
    assert (row.kind, row.failure, row.replica, row.finish) == (Kind.TURN, None, "r1", "stop")
    assert (row.prompt_tokens, row.cached_tokens) == (5, None)
    assert server.requests[0].headers["x-session-id"] == "s1"
    assert server.requests[0].content == {
        "model": "a-model",
        "messages": [{"role": "user", "content": "message 1"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_the_whole_history_goes_along_or_only_the_latest(tmp_path: Path) -> None:
    _, server = chatted(tmp_path, *(reply(f"reply {n}") for n in (1, 2, 3)), asks=3)
    assert said(server)[2] == ["message 1", "reply 1", "message 2", "reply 2", "message 3"]
    short = Drill(wire=Wire.CHAT, history=2, reply_tokens=7)
    _, server = chatted(tmp_path, *(reply(f"reply {n}") for n in (1, 2, 3)), asks=3, drill=short)
    assert said(server)[2] == ["message 2", "reply 2", "message 3"]
    assert "max_tokens" in json.dumps(server.requests[0].content)
    none = Drill(wire=Wire.CHAT, history=0)
    _, server = chatted(tmp_path, *(reply(f"reply {n}") for n in (1, 2)), asks=2, drill=none)
    assert said(server)[1] == ["message 2"]


def test_what_failed_does_not_go_into_the_history(tmp_path: Path) -> None:
    rows, server = chatted(tmp_path, whole(500, {"error": {"code": "boom"}}), reply("reply 2"), asks=2)
    assert [row.failure for row in rows] == ["http_500", None]
    assert said(server)[1] == ["message 2"]


def test_what_is_refused_for_a_moment_is_asked_again_and_what_is_lost_has_failed(tmp_path: Path) -> None:
    busy = whole(429, {"error": {"code": "account_limit"}}, Retry_After=0)
    (row,), _ = chatted(tmp_path / "a", busy, reply("Yes"))
    assert (row.failure, row.attempts, row.note) == (None, 2, "account_limit")
    (row,), server = chatted(tmp_path / "b", streamed(b"data: {}\n", cuts=True))
    assert (row.failure, row.attempts) == ("lost", 1)
    assert row.replica == server.url.removeprefix("http://")


def test_who_goes_away_in_mid_reply_has_not_failed(tmp_path: Path) -> None:
    (row,), _ = chatted(tmp_path, reply("Yes"), ask=Ask(at_s=0.0, act=Act.CANCEL, after=1))
    assert (row.finish, row.failure, row.was_cancelled) == ("cancelled", None, True)


def test_replies_are_forced_to_their_length_where_the_server_lets_them(tmp_path: Path) -> None:
    drill = Drill(wire=Wire.CHAT, shape=Shape.LONG_OUTPUT, reply_tokens=9)
    refused = whole(400, {"error": {"code": "unsupported_parameter"}})
    rows, server = chatted(tmp_path, refused, reply("a"), reply("b"), asks=2, drill=drill)
    assert ["min_tokens" in json.dumps(request.content) for request in server.requests] == [True, False, False]
    assert [(row.failure, row.attempts, row.note) for row in rows] == [(None, 2, "min_tokens_refused"), (None, 1, "")]


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (whole(400, {"error": {"code": "context_length_exceeded"}}), None),
        (reply("Yes"), "let_in"),
        (whole(500, {}), "http_500"),
        (Scripted(cuts=True), "http_None"),
    ],
)
def test_what_does_not_fit_must_be_refused(tmp_path: Path, answer: Scripted, failure: str | None) -> None:
    (row,), _ = chatted(tmp_path, answer, ask=Ask(at_s=0.0, act=Act.TOO_LONG))
    assert (row.kind, row.failure) == (Kind.HOSTILE, failure)


def test_without_affinity_servers_are_chosen_by_chance_and_the_same_again(tmp_path: Path) -> None:
    drill = Drill(wire=Wire.CHAT, affinity=Affinity.NONE)
    chosen = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        with scripted_http(*[reply("Yes")] * 20) as one, scripted_http(*[reply("Yes")] * 20) as other:
            here = stage(folder, one.url, other.url, drill=drill)
            with ChatWire(here, 0) as wire:
                for turn in range(20):
                    wire.take(place(Ask(at_s=float(turn)), turn=turn), Message("x"))
            here.book.close()
        chosen.append([row.replica == one.url.removeprefix("http://") for row in rows_in(folder)])
    assert chosen[0] == chosen[1]
    assert 2 < sum(chosen[0]) < 18
