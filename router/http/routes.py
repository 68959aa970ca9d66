"""The paths beside the generating ones: how they are found, and who may call them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from urllib.parse import parse_qsl, unquote_to_bytes

from router.http.access import Access
from router.http.answer import Answer
from router.http.asgi import Headers
from router.http.errors import MethodNotAllowed, NotFound, RequestInvalid

ANY = None
"""In a path: any one segment, which is handed to the handler."""


class Caller(Enum):
    """Who may call."""

    ANYONE = auto()
    CLIENT = auto()
    OPERATOR = auto()


@dataclass(frozen=True, slots=True)
class Request:
    """What a handler sees of a request; `named` are the path's variable segments."""

    named: tuple[str, ...] = ()
    headers: Headers = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


Handler = Callable[[Request], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Route:
    path: tuple[str | None, ...]
    by: Caller
    methods: Mapping[str, Handler]

    def match(self, segments: Sequence[str]) -> tuple[str, ...] | None:
        """The variable segments, if this is the path."""
        if len(segments) != len(self.path) or any(
            mine not in (ANY, theirs) for mine, theirs in zip(self.path, segments, strict=True)
        ):
            return None
        return tuple(theirs for mine, theirs in zip(self.path, segments, strict=True) if mine is ANY)


@dataclass(frozen=True, slots=True)
class Found:
    handler: Handler
    named: tuple[str, ...]


def find(routes: Sequence[Route], method: str, raw_path: bytes, *, admitted: Callable[[Caller], None]) -> Found:
    """Who may not call learns nothing of the methods; raises `NotFound`, `MethodNotAllowed` or what `admitted` does."""
    segments = _segments(raw_path)
    for route in routes:
        named = route.match(segments)
        if named is not None:
            admitted(route.by)
            return Found(_handler(route, method), named)
    raise NotFound("there is nothing at this path")


def admission(access: Access, headers: Headers) -> Callable[[Caller], None]:
    def admitted(by: Caller) -> None:
        match by:
            case Caller.ANYONE:
                pass
            case Caller.CLIENT:
                access.check_client(headers)
            case Caller.OPERATOR:
                access.check_operator(headers)

    return admitted


def query_of(raw: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=20))
    except ValueError as error:
        raise RequestInvalid("the query cannot be read") from error


def _handler(route: Route, method: str) -> Handler:
    handler = route.methods.get("GET" if method == "HEAD" else method)
    if handler is None:
        raise MethodNotAllowed(tuple(sorted({*route.methods, *(["HEAD"] if "GET" in route.methods else [])})))
    return handler


def _segments(raw_path: bytes) -> list[str]:
    """Cut before they are decoded, so that a name may hold a slash."""
    try:
        return [unquote_to_bytes(segment).decode() for segment in raw_path.split(b"/")[1:]]
    except UnicodeDecodeError as error:
        raise NotFound("there is nothing at this path") from error
