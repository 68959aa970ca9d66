"""The public API as a caller uses it; the only file of the commands that knows the HTTP client."""

import ipaddress
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Self, TypeVar
from urllib.parse import quote, urlsplit

import httpx
from pydantic import ValidationError

from gateway.cli.api_faults import ApiAnswerMalformed, ApiCutOff, ApiRefused, ApiSilent, unreached
from gateway.cli.event_stream import EventReader, ServerEvent
from gateway.cli.failure import CommandFailed
from gateway.cli.fleet_wire import DecisionView, FleetView, ReplicaView
from gateway.cli.wire import (
    EVENT_OF,
    Answer,
    ContextView,
    Item,
    Page,
    Problem,
    ScenarioView,
    SessionView,
    TurnEvent,
    TurnView,
)

View = TypeVar("View", bound=Answer)

CONNECT_TIMEOUT_S = 10.0
PAGE = 100


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event and the moment its bytes were there, taken before anything was parsed."""

    at: float
    event: TurnEvent


class TurnStream:
    """One turn under way: which replica has it, and its events as they come."""

    def __init__(self, response: httpx.Response, *, clock: Callable[[], float]) -> None:
        self._response = response
        self._clock = clock
        self.replica = response.headers.get("x-replica-id")
        self.pin = response.headers.get("x-session-pin")

    async def events(self) -> AsyncIterator[TimedEvent]:
        reader = EventReader()
        async for chunk in self._response.aiter_raw():
            at = self._clock()
            for raw in reader.feed(chunk):
                if (event := _typed(raw)) is not None:
                    yield TimedEvent(at, event)


class ApiClient:
    """Calls of one caller over connections of its own; made by `Api.as_holder_of`."""

    def __init__(self, *, api: "Api", key: str) -> None:
        self._api = api
        self._http = api.connections()
        self._headers = {"Authorization": f"Bearer {key}"}

    def now(self) -> float:
        """The clock that stamps events."""
        return self._api.clock()

    async def scenarios(self) -> list[ScenarioView]:
        return await self.every("/v1/scenarios", Page[ScenarioView])

    async def start_session(
        self, scenario: str, *, metadata: dict[str, str], idempotency: str, drill: str | None = None
    ) -> SessionView:
        body: dict[str, object] = {"scenario_id": scenario, "drill_id": drill, "metadata": metadata}
        return await self.write("/v1/sessions", SessionView, body, idempotency=idempotency)

    async def session(self, session: str) -> SessionView:
        return await self.read(f"/v1/sessions/{path_part(session)}", SessionView)

    async def close_session(self, session: str) -> SessionView:
        return await self.write(f"/v1/sessions/{path_part(session)}/close", SessionView, None)

    async def turn(self, session: str, number: int) -> TurnView:
        return await self.read(f"/v1/sessions/{path_part(session)}/turns/{number}", TurnView)

    async def turns(self, session: str) -> list[TurnView]:
        return await self.every(f"/v1/sessions/{path_part(session)}/turns", Page[TurnView])

    async def context(self, session: str) -> ContextView:
        return await self.read(f"/v1/sessions/{path_part(session)}/context", ContextView)

    async def fleet(self) -> FleetView:
        return await self.read("/v1/fleet", FleetView)

    async def replica(self, replica: str) -> ReplicaView:
        return await self.read(f"/v1/fleet/replicas/{path_part(replica)}", ReplicaView)

    async def drain(self, replica: str, *, within_s: float | None) -> ReplicaView:
        body: dict[str, object] = {} if within_s is None else {"within_s": within_s}
        return await self.write(f"/v1/fleet/replicas/{path_part(replica)}/drain", ReplicaView, body)

    async def undo_drain(self, replica: str) -> ReplicaView:
        return await self.delete(f"/v1/fleet/replicas/{path_part(replica)}/drain", ReplicaView)

    async def decision(self, turn: str) -> DecisionView:
        return await self.read(f"/v1/fleet/decisions/{path_part(turn)}", DecisionView)

    async def cancel_turn(self, session: str, number: int) -> None:
        with self._api.faults():
            answer = await self._http.post(
                f"/v1/sessions/{path_part(session)}/turns/{number}/cancel", headers=self._headers
            )
        _refuse_unless_ok(answer)

    @asynccontextmanager
    async def take_turn(self, session: str, text: str, *, idempotency: str) -> AsyncIterator[TurnStream]:
        """The turn as it streams; leaving the block early only stops listening."""
        request = self._http.build_request(
            "POST",
            f"/v1/sessions/{path_part(session)}/turns",
            json={"text": text},
            headers={
                **self._headers,
                "Accept": "text/event-stream",
                "Accept-Encoding": "identity",
                "Idempotency-Key": idempotency,
            },
        )
        with self._api.faults():
            response = await self._http.send(request, stream=True)
            try:
                if not response.is_success:
                    await response.aread()
                    _refuse_unless_ok(response)
                yield TurnStream(response, clock=self._api.clock)
            finally:
                await response.aclose()

    async def every(
        self, path: str, page: type[Page[Item]], *, most: int = sys.maxsize, **asked: str | None
    ) -> list[Item]:
        """All that a list holds, or the first so many, page by page."""
        found: list[Item] = []
        cursor = None
        while True:
            got = await self.read(path, page, **asked, limit=str(min(PAGE, most - len(found))), cursor=cursor)
            found += got.items
            if (cursor := got.next_cursor) is None or len(found) >= most:
                return found

    async def upload(self, path: str, view: type[View], raw: bytes, *, media_type: str, **query: str) -> View:
        headers = {**self._headers, "Content-Type": media_type}
        with self._api.faults():
            answer = await self._http.post(path, content=raw, params=query, headers=headers)
        return _viewed(answer, view)

    async def remove(self, path: str) -> None:
        with self._api.faults():
            answer = await self._http.delete(path, headers=self._headers)
        _refuse_unless_ok(answer)

    async def delete(self, path: str, view: type[View]) -> View:
        """Of what has something to show afterwards."""
        with self._api.faults():
            answer = await self._http.delete(path, headers=self._headers)
        return _viewed(answer, view)

    async def put(self, path: str, view: type[View], body: dict[str, object]) -> View:
        with self._api.faults():
            answer = await self._http.put(path, json=body, headers=self._headers)
        return _viewed(answer, view)

    async def read(self, path: str, view: type[View], **query: str | None) -> View:
        asked = {name: value for name, value in query.items() if value is not None}
        with self._api.faults():
            answer = await self._http.get(path, params=asked, headers=self._headers)
        return _viewed(answer, view)

    async def write(
        self, path: str, view: type[View], body: dict[str, object] | None, *, idempotency: str | None = None
    ) -> View:
        headers = self._headers if idempotency is None else {**self._headers, "Idempotency-Key": idempotency}
        with self._api.faults():
            answer = await self._http.post(path, json=body, headers=headers)
        return _viewed(answer, view)


class Api:
    """One server; used as `async with Api(...) as api: client = api.as_holder_of(key)`."""

    def __init__(
        self, *, base_url: str, read_timeout_s: float = 60.0, clock: Callable[[], float] = perf_counter
    ) -> None:
        self.base_url = base_url
        self.clock = clock
        self._read_timeout_s = read_timeout_s
        self._tls = httpx.create_ssl_context()
        self._opened: list[httpx.AsyncClient] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        while self._opened:
            await self._opened.pop().aclose()

    def as_holder_of(self, key: str) -> ApiClient:
        return ApiClient(api=self, key=key)

    def connections(self) -> httpx.AsyncClient:
        """A pool for one caller. Hundreds of trainees in one pool would wait for each other, not for the server: each
        of its requests looks through all of its connections."""
        pool = httpx.AsyncClient(
            base_url=self.base_url,
            timeout=httpx.Timeout(self._read_timeout_s, connect=CONNECT_TIMEOUT_S),
            verify=self._tls,
            trust_env=not _is_loopback(self.base_url),  # a proxy for the outside cannot reach this machine's own ports
        )
        self._opened.append(pool)
        return pool

    @contextmanager
    def faults(self) -> Iterator[None]:
        """The HTTP client's errors in our words."""
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
            raise unreached(self.base_url, error) from error
        except httpx.TimeoutException as error:
            raise ApiSilent(self._read_timeout_s) from error
        except httpx.HTTPError as error:
            raise ApiCutOff(str(error) or type(error).__name__) from error
        except UnicodeEncodeError as error:  # bytes of the command line that are no text
            raise CommandFailed("what was given is not UTF-8, so it cannot be sent") from error


def _typed(raw: ServerEvent) -> TurnEvent | None:
    model = EVENT_OF.get(raw.name)
    if model is None:  # a newer server may say more than we know
        return None
    try:
        return model.model_validate_json(raw.data)
    except ValidationError as error:
        raise ApiAnswerMalformed(f"the event {raw.name} cannot be read ({_first(error)})") from error


def _viewed(answer: httpx.Response, view: type[View]) -> View:
    _refuse_unless_ok(answer)
    try:
        return view.model_validate_json(answer.content)
    except ValidationError as error:
        raise ApiAnswerMalformed(f"the answer of {answer.url.path} cannot be read ({_first(error)})") from error


def _refuse_unless_ok(answer: httpx.Response) -> None:
    if answer.is_success:
        return
    problem = _problem(answer)
    raise ApiRefused(
        status=answer.status_code,
        code=problem.code or f"http_{answer.status_code}",
        detail=problem.detail or problem.title or answer.reason_phrase or "refused",
        retry_after_s=_seconds(answer.headers.get("retry-after")),
        faults=[(fault.field, fault.detail) for fault in problem.errors],
    )


def _problem(answer: httpx.Response) -> Problem:
    try:
        return Problem.model_validate(json.loads(answer.content))
    except ValueError:  # of JSON and of pydantic: an answer of something between us and the server
        return Problem()


def _seconds(written: str | None) -> float | None:
    try:
        return max(0.0, float(written)) if written is not None else None
    except ValueError:  # a date; our servers send seconds
        return None


def _first(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else fault["msg"]


def path_part(text: str) -> str:
    """A name or an id as one part of a path, whatever it holds."""
    return quote(text, safe="", errors="surrogateescape")


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
