"""Turns as chat completions: the client keeps the history, and chooses the server where nobody else does."""

import time
from contextlib import ExitStack
from typing import Self
from urllib.parse import urlsplit

import gevent

from loadtests.domain.chat_hearing import ChatHearing
from loadtests.domain.dice import Dice
from loadtests.domain.drill import Shape
from loadtests.domain.part import Act, Ask
from loadtests.domain.rows import Kind, Row
from loadtests.users.caller import Answer, Caller, Lost
from loadtests.users.message import Message
from loadtests.users.stage import Stage
from loadtests.users.taken import Place, Refusal, Taken, refusal

_OK = 200
_BAD_REQUEST = 400
_SERVER_ERROR = 500
_OF_CERTAIN_LENGTH = frozenset({Shape.LONG_OUTPUT, Shape.TRACE})
_DATA = b"data:"
_SESSION_HEADERS = ("X-Session-ID", "X-SMG-Routing-Key", "X-LiteLLM-Session-Id")
"""By which routers know a session: ours and vLLM's, SGLang's, LiteLLM's. Each overlooks those of the others."""
_LEAVING = frozenset({Act.CUT, Act.CANCEL})
"""A chat whose client goes away is stopped; there is nothing to read on."""


class ChatWire:
    """One trainee's."""

    def __init__(self, stage: Stage, trainee: int) -> None:
        self._stage = stage
        self._open = ExitStack()
        self._callers = [
            self._open.enter_context(stage.caller(trainee, base_url=url, is_chat=True)) for url in stage.aim.base_urls
        ]
        self._history: list[dict[str, str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def take(self, place: Place, said: Message) -> None:
        """Ask, read the reply to its end, and write the row."""
        message = {"role": "user", "content": said.text}
        hearing = ChatHearing()
        taken = Taken(started_at=time.perf_counter(), notes=[said.note])
        failure: str | None = "timeout"
        with gevent.Timeout(self._stage.patience_s, False):  # noqa: FBT003  gevent's own: end without an error
            failure = self._to_its_end(place, [*self._remembered(), message], taken, hearing)
        taken.ended_at = time.perf_counter()
        heard = hearing.heard(failure=failure)
        if place.ask.act is Act.TOO_LONG:
            self._stage.book.write(self._refused_row(place, taken))
            return
        self._stage.book.write(taken.row(place, heard, self._stage.clock))
        if heard.failure is None:
            self._history += [message, {"role": "assistant", "content": hearing.answer}]

    def _to_its_end(
        self, place: Place, messages: list[dict[str, str]], taken: Taken, hearing: ChatHearing
    ) -> str | None:
        """What failed, beyond what the stream itself says."""
        caller = self._chosen(place)
        while True:
            taken.attempts += 1
            try:
                refused = self._attempt(caller, place, messages, taken, hearing)
            except Lost:
                return "lost"
            if refused is None:
                return None
            taken.notes.append(refused.code)
            if refused.after_s is None:
                return refused.failure
            gevent.sleep(refused.after_s)

    def _attempt(
        self, caller: Caller, place: Place, messages: list[dict[str, str]], taken: Taken, hearing: ChatHearing
    ) -> Refusal | None:
        body = self._body(place.ask, messages)
        answer = caller.send_json("POST", "/v1/chat/completions", body, headers=_named(place.session))
        taken.status = answer.status
        if answer.status != _OK:  # it ran nowhere
            refused = refusal(answer)
            if answer.status == _BAD_REQUEST and "min_tokens" in body:
                # Not every server lets a reply be made longer than the model wants it.
                self._stage.may_force_length = False
                return Refusal(refused.failure, "min_tokens_refused", 0.0)
            return refused
        hearing.replica = answer.header("X-Replica-ID") or self._name_of(caller)
        _read(answer, place.ask, hearing)
        return None

    def _name_of(self, caller: Caller) -> str:
        return self._stage.aim.replicas.get(caller.base_url) or urlsplit(caller.base_url).netloc

    def _body(self, ask: Ask, messages: list[dict[str, str]]) -> dict[str, object]:
        most = ask.reply_tokens or self._stage.drill.reply_tokens
        return {
            "model": self._stage.model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            **({"max_tokens": most} if most else {}),
            **({"min_tokens": most} if most and self._forces_length else {}),
        }

    @property
    def _forces_length(self) -> bool:
        """Where replies of a certain length are the point."""
        return self._stage.may_force_length and self._stage.drill.shape in _OF_CERTAIN_LENGTH

    def _remembered(self) -> list[dict[str, str]]:
        kept = self._stage.drill.history
        latest = self._history if kept is None else self._history[max(0, len(self._history) - kept) :]
        system = self._stage.aim.system
        return [*([{"role": "system", "content": system}] if system else []), *latest]

    def _chosen(self, place: Place) -> Caller:
        dice = Dice(self._stage.drill.seed, f"server of {place.trainee} at {place.ask.at_s}")
        return dice.one_of(self._callers)

    def _refused_row(self, place: Place, taken: Taken) -> Row:
        """Of a prompt that does not fit: whoever takes it, or breaks by it, has failed."""
        status, clock = taken.status, self._stage.clock
        is_taken = status is not None and status < _BAD_REQUEST
        broke = status is None or status >= _SERVER_ERROR
        failure = "let_in" if is_taken else (f"http_{status}" if broke else None)
        return Row(
            kind=Kind.HOSTILE,
            worker=place.worker,
            trainee=place.trainee,
            session=place.session,
            turn=place.turn,
            planned_s=place.ask.at_s,
            started_s=clock.at(taken.started_at),
            free_s=place.free_s,
            ended_s=clock.at(taken.ended_at),
            status=status,
            failure=failure,
            note=Act.TOO_LONG,
        )


def _named(session: str) -> dict[str, str | None]:
    return dict.fromkeys(_SESSION_HEADERS, session)


def _read(answer: Answer, ask: Ask, hearing: ChatHearing) -> None:
    unheard: list[tuple[float, bytes]] = []
    chunks = 0
    try:
        for at, raw in answer.lines():
            unheard.append((at, raw))
            chunks += raw.startswith(_DATA)
            if ask.act in _LEAVING and chunks > ask.after:  # the first tells the role alone
                answer.close()
                break
    finally:
        for at, raw in unheard:
            hearing.line(raw, at=at)
    if ask.act in _LEAVING and not hearing.is_over:
        hearing.stop()
