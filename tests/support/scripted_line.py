"""A line to routers that a test plays: answers in order, each with its bytes as they come."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from typing_extensions import override

from gateway.ports import LineReply, RouterLine


@dataclass
class ScriptedAnswer(LineReply):
    """`script` holds pieces of the body; an exception among them is raised in its place."""

    script: Sequence[bytes | Exception] = ()
    code: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"x-replica-id": "a", "x-session-pin": "new"})
    is_closed: bool = False
    place: int = 0

    @property
    @override
    def status(self) -> int:
        return self.code

    @override
    def header(self, name: str) -> str:
        return self.headers.get(name, "")

    @override
    async def read(self) -> bytes:
        if self.place >= len(self.script):
            return b""
        step = self.script[self.place]
        self.place += 1
        if isinstance(step, Exception):
            raise step
        return step

    @override
    async def body(self) -> bytes:
        parts = []
        while data := await self.read():
            parts.append(data)
        self.close()
        return b"".join(parts)

    @override
    def close(self) -> None:
        self.is_closed = True


@dataclass
class Sent:
    method: str
    path: str
    body: bytes
    headers: dict[str, str]


@dataclass
class ScriptedLine(RouterLine):
    streams: list[ScriptedAnswer | Exception] = field(default_factory=list)
    answers: list[tuple[int, bytes] | Exception] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)

    @override
    async def stream(self, path: str, *, headers: Iterable[tuple[str, str]], body: bytes) -> LineReply:
        self.sent.append(Sent("POST", path, body, dict(headers)))
        answer = self.streams.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @override
    async def whole(self, path: str, *, headers: Iterable[tuple[str, str]], body: bytes) -> LineReply:
        return await self.stream(path, headers=headers, body=body)

    @override
    async def ask(self, method: str, path: str, *, body: bytes = b"") -> tuple[HTTPStatus, bytes]:
        self.sent.append(Sent(method, path, body, {}))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return HTTPStatus(answer[0]), answer[1]


def chunk(text: str | None = None, *, finish: str | None = None) -> bytes:
    delta = "{}" if text is None else f'{{"content":"{text}"}}'
    reason = "null" if finish is None else f'"{finish}"'
    choice = f'{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{reason}}}'
    head = '"id":"chat-1","object":"chat.completion.chunk","created":1,"model":"smollm2"'
    return f'data: {{{head},"choices":[{choice}]}}\n\n'.encode()


USAGE = (
    b'data: {"id":"chat-1","object":"chat.completion.chunk","created":1,"model":"smollm2","choices":[],'
    b'"usage":{"prompt_tokens":30,"total_tokens":32,"completion_tokens":2}}\n\n'
)
DONE = b"data: [DONE]\n\n"
END = chunk(finish="stop") + USAGE + DONE


def error(code: str, *, message: str = "no") -> bytes:
    return f'{{"error":{{"message":"{message}","type":"server_error","param":null,"code":"{code}"}}}}'.encode()
