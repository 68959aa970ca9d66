import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest

from tests.integration.cli.conftest import Command, Ended
from tests.integration.cli.wire_server import KEYS, OPENING, WireServer, Wrong

ROOT = Path(__file__).parents[3]


@pytest.fixture
def chat(drillyard: Command, server: WireServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Plays the lines of its first argument, then the input ends."""

    def play(lines: str, *words: str) -> Ended:
        typed = tmp_path / "typed"
        typed.write_text(lines)
        with typed.open() as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            return drillyard("chat", "--base-url", server.base_url, "--key", KEYS[0], *words)

    return play


def test_a_chat_shows_opening_reply_and_where_it_ran_and_closes_the_session(chat: Command, server: WireServer) -> None:
    ended = chat("我要退货\n\n", "--scenario", "zh")
    assert ended.code == 0, ended
    (room,) = server.rooms.values()
    assert OPENING in ended.out
    assert "客户说: 我要退货 好的" in ended.out
    assert "turn 1, replica-0 (new), first text after 0." in ended.out
    assert "50 % of 100 tokens cached" in ended.out
    assert f"session {room.id} is closed" in ended.out
    assert room.state == "closed"


def test_a_kept_session_goes_on_later(chat: Command, server: WireServer) -> None:
    assert chat("one\n/quit\nnever said\n", "--scenario", "zh", "--keep").code == 0
    (room,) = server.rooms.values()
    assert room.state == "open"
    ended = chat("two\n", "--session", room.id)
    assert f"session {room.id} goes on after turn 1" in ended.out
    assert [turn["text"] for turn in room.turns] == ["one", "two"]


def test_commands_answer_without_a_turn(chat: Command, server: WireServer) -> None:
    ended = chat("/help\n/context\n", "--scenario", "zh")
    assert ended.code == 0
    assert "/quit leaves" in ended.out
    assert "may not read how prompts are built" in ended.out
    assert not next(iter(server.rooms.values())).turns


def test_the_scene_is_changed_between_two_messages(chat: Command, server: WireServer) -> None:
    ended = chat("one\n/scene  agreement\n/scene revenge\n/scene\ntwo\n", "--scenario", "zh")
    assert ended.code == 0, ended
    assert "the next message begins the scene agreement" in ended.out
    assert ended.out.count("scene: there are complaint, agreement") == 2
    (room,) = server.rooms.values()
    assert (room.scene, [turn["text"] for turn in room.turns]) == ("agreement", ["one", "two"])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (Wrong.ERROR_EVENT, "the turn failed: replica_broke: the replica broke"),
        (Wrong.BLOCKED, "the turn was blocked: policy"),
        (Wrong.NO_END, "the stream ended without the end of the turn"),
        (Wrong.CUT, "the connection was cut"),
        (Wrong.UNAVAILABLE, "no replica is ready (try again in 0 s)"),
    ],
)
def test_a_turn_that_goes_wrong_is_told_and_the_chat_goes_on(
    chat: Command, server: WireServer, wrong: Wrong, told: str
) -> None:
    server.wrong[1] = wrong
    ended = chat("one\n/help\n", "--scenario", "zh")
    assert ended.code == 0, ended
    assert told in ended.out
    assert "/quit leaves" in ended.out


def test_a_reply_cannot_steer_the_terminal(chat: Command, server: WireServer) -> None:
    server.wrong[1] = Wrong.ESCAPES
    ended = chat("one\n", "--scenario", "zh")
    assert "红色" in ended.out
    assert "\x1b[31m" not in ended.out


def test_a_chat_ends_when_its_session_is_over(chat: Command, server: WireServer) -> None:
    chat("one\n", "--scenario", "zh")
    (room,) = server.rooms.values()
    ended = chat("two\n/help\n", "--session", room.id)
    assert "the session is closed" in ended.out
    assert "/quit leaves" not in ended.out


def test_a_session_that_is_not_there_is_told_in_one_line(chat: Command) -> None:
    ended = chat("", "--session", "nothing")
    assert ended.code == 1
    assert ended.err == "drillyard: 404 session_not_found: no session\n"


def test_scenario_and_session_together_are_wrong_usage(chat: Command) -> None:
    assert chat("", "--session", "a", "--scenario", "b").code == 2


class Terminal:
    """What the program at the other end has written, read up to one word after another."""

    def __init__(self, ours: int) -> None:
        self._ours = ours
        self._unread = b""

    def until(self, word: str, *, within_s: float = 30) -> None:
        deadline = monotonic() + within_s
        while word.encode() not in self._unread:
            ready, _, _ = select.select([self._ours], [], [], max(0.0, deadline - monotonic()))
            assert ready, self._unread.decode(errors="replace")
            self._unread += os.read(self._ours, 4096)
        self._unread = self._unread.partition(word.encode())[2]

    def type(self, line: str) -> None:
        os.write(self._ours, line.encode() + b"\n")


@contextmanager
def chat_on_a_terminal(server: WireServer) -> Iterator[tuple[subprocess.Popen[bytes], Terminal]]:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gateway.cli.main", "chat", "--base-url", server.base_url]
    command += ["--key", KEYS[0], "--scenario", "zh"]
    with subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        try:
            yield running, Terminal(ours)
        finally:
            if running.poll() is None:
                running.kill()
            os.close(ours)


def wait_until_asleep(pid: int) -> None:
    """A signal between the prompt and the wait for a line would be noticed only at the next key."""
    deadline = monotonic() + 10
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        assert monotonic() < deadline


def test_ctrl_c_during_a_reply_stops_the_reply_and_at_the_prompt_leaves(server: WireServer) -> None:
    server.wrong[1] = Wrong.STALL
    with chat_on_a_terminal(server) as (running, terminal):
        terminal.until("> ")
        terminal.type("hello")
        terminal.until("客户说")
        running.send_signal(signal.SIGINT)
        terminal.until("the reply was stopped")
        terminal.until("> ")
        (room,) = server.rooms.values()
        assert server.cancelled == [(room.id, 1)]
        wait_until_asleep(running.pid)
        running.send_signal(signal.SIGINT)
        terminal.until("is closed")
        assert running.wait(timeout=20) == 130
    assert room.state == "closed"
