"""A real HTTP server that speaks the public API's wire contract, with faults for each turn to choose from."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

KEYS = ("dy_one_secret", "dy_two_secret")
ZH, EN = "5f6f8a5e-0000-4000-8000-000000000001", "5f6f8a5e-0000-4000-8000-000000000002"
SCENES = ("complaint", "agreement")
OPENING = "Hello, what can I do for you?"


class Wrong(StrEnum):
    CUT = "cut"
    ERROR_EVENT = "error_event"
    OTHER_RECORD = "other_record"
    NO_END = "no_end"
    STALL = "stall"
    BUSY_ONCE = "busy_once"
    UNAVAILABLE = "unavailable"
    BROKEN = "broken"
    MOVED = "moved"
    NOT_STORED = "not_stored"
    WRONG_NUMBER = "wrong_number"
    BLOCKED = "blocked"
    TORN = "torn"
    ESCAPES = "escapes"
    """Right, but every byte comes alone."""


@dataclass
class Room:
    """One session on the server."""

    id: str
    scenario: str
    state: str = "open"
    scene: str = SCENES[0]
    turns: list[dict[str, object]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    """The idempotency keys that came, in order."""


@dataclass
class WireServer:
    base_url: str = ""
    wrong: dict[int, Wrong] = field(default_factory=dict)
    rooms: dict[str, Room] = field(default_factory=dict)
    starts: dict[str, Room] = field(default_factory=dict)
    cancelled: list[tuple[str, int]] = field(default_factory=list)
    refuse_starts: bool = False
    unreachable_closes: int = 0
    """So many requests to close are hung up on."""
    delay_s: float = 0.0
    max_turns: int = 50
    reached: threading.Event = field(default_factory=threading.Event)
    """Set once a stalling turn has said its first word."""

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/scenarios", self._scenarios),
                Route("/v1/sessions", self._start, methods=["POST"]),
                Route("/v1/sessions/{id}", self._session),
                Route("/v1/sessions/{id}/close", self._close, methods=["POST"]),
                Route("/v1/sessions/{id}/scene", self._scene, methods=["POST"]),
                Route("/v1/sessions/{id}/context", self._context),
                Route("/v1/sessions/{id}/turns", self._turns, methods=["GET"]),
                Route("/v1/sessions/{id}/turns", self._take, methods=["POST"]),
                Route("/v1/sessions/{id}/turns/{n:int}", self._turn),
                Route("/v1/sessions/{id}/turns/{n:int}/cancel", self._cancel, methods=["POST"]),
            ]
        )

    async def _scenarios(self, request: Request) -> Response:
        if (refusal := _refusal(request)) is not None:
            return refusal
        first = request.query_params.get("cursor") is None  # two pages, so that paging is followed
        limits = {"max_turns": self.max_turns, "max_reply_tokens": None}
        item = (
            {"id": ZH, "title": "退货投诉", "locale": "zh-CN", "limits": limits}
            if first
            else {"id": EN, "title": "An angry customer", "locale": "en-GB", "limits": limits}
        )
        return JSONResponse({"items": [item], "next_cursor": "more" if first else None})

    async def _start(self, request: Request) -> Response:
        if (refusal := _refusal(request)) is not None:
            return refusal
        if self.refuse_starts:
            return _problem(503, "no_seat", "no seat is free")
        body = await request.json()
        room = self.starts.setdefault(request.headers["idempotency-key"], Room(str(uuid4()), body["scenario_id"]))
        self.rooms[room.id] = room
        return JSONResponse(_session(room), 201)

    async def _session(self, request: Request) -> Response:
        room = self.rooms.get(request.path_params["id"])
        return JSONResponse(_session(room)) if room is not None else _problem(404, "session_not_found", "no session")

    async def _close(self, request: Request) -> Response:
        room = self.rooms[request.path_params["id"]]
        if self.unreachable_closes > 0:
            self.unreachable_closes -= 1
            return StreamingResponse(_hung_up())
        room.state = "closed"
        return JSONResponse(_session(room))

    async def _scene(self, request: Request) -> Response:
        room, body = self.rooms[request.path_params["id"]], await request.json()
        if body["scene"] not in SCENES:
            return _problem(422, "invalid_request", f"scene: there are {', '.join(SCENES)}")
        room.scene = body["scene"]
        return JSONResponse(_session(room))

    async def _context(self, request: Request) -> Response:
        assert request.path_params["id"] in self.rooms
        return _problem(403, "forbidden", "the role trainee may not read how prompts are built")

    async def _turns(self, request: Request) -> Response:
        return JSONResponse({"items": self.rooms[request.path_params["id"]].turns, "next_cursor": None})

    async def _turn(self, request: Request) -> Response:
        turns = self.rooms[request.path_params["id"]].turns
        found = [turn for turn in turns if turn["turn"] == request.path_params["n"]]
        return JSONResponse(found[0]) if found else _problem(404, "turn_not_found", "no such turn")

    async def _cancel(self, request: Request) -> Response:
        self.cancelled.append((request.path_params["id"], request.path_params["n"]))
        return JSONResponse({}, 202)

    async def _take(self, request: Request) -> Response:
        room = self.rooms[request.path_params["id"]]
        number = len(room.turns) + 1
        wrong = self.wrong.get(number)
        is_first_try = request.headers["idempotency-key"] not in room.heads
        room.heads.append(request.headers["idempotency-key"])
        if wrong is Wrong.BROKEN:
            return Response("<html>bad gateway</html>", 502, media_type="text/html")
        if wrong is Wrong.UNAVAILABLE or (wrong is Wrong.BUSY_ONCE and is_first_try):
            return _problem(503, "no_replica", "no replica is ready", retry_after="0")
        if room.state == "closed":
            return _problem(409, "session_closed", "the session is closed")
        text = (await request.json())["text"]
        replica = "replica-1" if wrong is Wrong.MOVED else "replica-0"
        pin = "moved" if wrong is Wrong.MOVED else "new" if number == 1 else "kept"
        return StreamingResponse(
            self._events(room, number, text, replica, wrong),
            media_type="text/event-stream",
            headers={"X-Replica-ID": replica, "X-Session-Pin": pin},
        )

    async def _events(
        self, room: Room, number: int, text: str, replica: str, wrong: Wrong | None
    ) -> AsyncIterator[bytes]:
        pieces = ["\x1b[31m红色 "] if wrong is Wrong.ESCAPES else ["客户说: ", text[:20], " 好的\n\n", "。"]
        yield b": still here\n\n" + _event("accepted", session_id=room.id, turn=number, replica=replica)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        yield _event("delta", text=pieces[0])
        if wrong is Wrong.CUT:
            raise ConnectionAbortedError
        if wrong is Wrong.STALL:
            self.reached.set()
            await asyncio.sleep(600)
        rest = b"".join(_event("delta", text=piece) for piece in pieces[1:])
        for cut in _cuts(rest, 1 if wrong is Wrong.TORN else len(rest) or 1):
            yield cut
        yield self._end(room, number, text, "".join(pieces), wrong)

    def _end(self, room: Room, number: int, text: str, reply: str, wrong: Wrong | None) -> bytes:
        match wrong:
            case Wrong.ERROR_EVENT:
                return _event("error", code="replica_broke", message="the replica broke", retryable=True)
            case Wrong.BLOCKED:
                return _event("blocked", reason="policy")
            case Wrong.NO_END:
                return b": still here\n\n"
            case Wrong.OTHER_RECORD:
                reply += "?"
            case _:
                pass
        stored = {"turn": number, "state": "completed", "text": text, "reply": reply}
        if wrong is not Wrong.NOT_STORED:
            room.turns.append(stored)
        return _event(
            "done",
            turn=number + (wrong is Wrong.WRONG_NUMBER),
            finish_reason="stop",
            usage={"prompt_tokens": 100 * number, "cached_tokens": 100 * number - 50, "completion_tokens": 7},
            timings={"queue_ms": 0.0, "ttft_ms": 1.0, "e2e_ms": 2.0},
            replica="replica-1" if wrong is Wrong.MOVED else "replica-0",
            continued=False,
        )


@contextmanager
def serving(server: WireServer) -> Iterator[WireServer]:
    """Serves in a thread of its own for as long as the block lasts."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(server.app(), log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    server.base_url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    thread.start()
    try:
        yield server
    finally:
        running.should_exit = True
        thread.join(timeout=20)
        listener.close()


def _refusal(request: Request) -> Response | None:
    if request.headers.get("authorization", "").removeprefix("Bearer ") in KEYS:
        return None
    return _problem(401, "unauthenticated", "the API key is not valid")


def _problem(status: int, code: str, detail: str, *, retry_after: str | None = None) -> Response:
    body = {"type": "about:blank", "title": "refused", "status": status, "code": code, "detail": detail}
    headers = {"Retry-After": retry_after} if retry_after is not None else {}
    return JSONResponse(body, status, headers=headers, media_type="application/problem+json")


async def _hung_up() -> AsyncIterator[bytes]:
    yield b"{"
    raise ConnectionAbortedError


def _session(room: Room) -> dict[str, object]:
    return {
        "id": room.id,
        "scenario_id": room.scenario,
        "state": room.state,
        "turn_count": len(room.turns),
        "opening": OPENING,
    }


def _event(name: str, **data: object) -> bytes:
    return f"id: 1-1\nevent: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _cuts(text: bytes, size: int) -> list[bytes]:
    return [text[at : at + size] for at in range(0, len(text), size)]
