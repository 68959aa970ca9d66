"""What a caller wants, read from the headers and the body of a generating request: pure, and once per request."""

import hashlib
import json
from functools import lru_cache
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple, TypeGuard

import msgspec

from router.domain.asks import Asks, Ticket
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, PinMode
from router.http.asgi import Headers
from router.http.errors import RequestInvalid

LONGEST_KEY = 256
LONGEST_MODEL = 1024
LONGEST_REQUEST_ID = 128
SESSION_COOKIE = "drillyard_session"
_COHORT_CHARACTERS = 4096
_LARGEST = 2**31 - 1

_SESSION, _COOKIE = b"x-session-id", b"cookie"
_PREFER, _COHORT, _KV, _MODE = b"x-prefer-replica", b"x-session-cohort", b"x-session-kv", b"x-pin-mode"
_DRILL, _ACCOUNT, _PRIORITY, _NO_CONTINUE = b"x-drill-id", b"x-account-id", b"x-priority", b"x-no-continue"
_ASKING = frozenset((_PREFER, _COHORT, _KV, _MODE, _DRILL, _ACCOUNT, _PRIORITY, _NO_CONTINUE))


class Wish(NamedTuple):
    """The facts of a body that decide where it goes; the bytes themselves go on untouched."""

    model: str | None
    is_streamed: bool
    user: str | None
    cohort: str
    """Names the system prompt, so that sessions that share it can share its cache; empty: there is none."""


def _refuse_constant(name: str) -> None:
    raise RequestInvalid(f"the body is not JSON: {name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


class _Facts(msgspec.Struct, gc=False):
    model: str | None = None
    stream: bool | None = None
    user: str | None = None
    messages: list[msgspec.Raw] | None = None


class _FirstMessage(msgspec.Struct, gc=False):
    role: str
    content: str


_FACTS = msgspec.json.Decoder(_Facts)
_FIRST_MESSAGE = msgspec.json.Decoder(_FirstMessage)


def wish_of(body: bytes) -> Wish:
    """Raises `RequestInvalid`."""
    try:
        return _wish_at_a_glance(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Unusual or wrong: it is read again in a way that says which, and what is wrong with it.
        return _wish_read(body)


def _wish_at_a_glance(body: bytes) -> Wish:
    """The rest of the body is checked and not made into objects, which takes a quarter of the time."""
    facts = _FACTS.decode(body)
    if not body.isascii():
        body.decode()  # what is skipped is not checked for that
    model, user, messages = facts.model, facts.user, facts.messages
    if model is not None and not _is_name(model):
        raise msgspec.DecodeError
    cohort = ""
    if messages:
        first = _FIRST_MESSAGE.decode(messages[0])
        cohort = _cohort_of(first.role, first.content)
    return Wish(model=model, is_streamed=facts.stream is True, user=user, cohort=cohort)


def _wish_read(body: bytes) -> Wish:
    found = _object(body)
    model, stream, user = found.get("model"), found.get("stream"), found.get("user")
    if model is not None and not _is_name(model):
        raise RequestInvalid(f"model must be a name of at most {LONGEST_MODEL} printable characters", param="model")
    if stream is not None and not isinstance(stream, bool):
        # Engines take "true" and 1 for true as well, and would then stream to somebody who waits for a whole answer.
        raise RequestInvalid("stream must be true or false", param="stream")
    if user is not None and not isinstance(user, str):
        raise RequestInvalid("user must be text", param="user")
    return Wish(model=model, is_streamed=stream is True, user=user, cohort=_cohort(found.get("messages")))


def _is_name(model: object) -> TypeGuard[str]:
    """It becomes part of a key of the pin store."""
    return isinstance(model, str) and 1 <= len(model) <= LONGEST_MODEL and model.isprintable()


def session_of(headers: Headers, user: str | None) -> AffinityKey | None:
    """From the header, else the cookie, else `user`; None: the caller names none. Raises `RequestInvalid`."""
    header = headers.get(_SESSION)
    if header is not None:
        return session_key(_text(header, "X-Session-ID"), param="X-Session-ID")
    if _COOKIE in headers and (cookie := _cookie(headers[_COOKIE])) is not None:
        return session_key(cookie, param=SESSION_COOKIE)
    return session_key(user, param="user") if user else None


def session_key(text: str, *, param: str) -> AffinityKey:
    if not 1 <= len(text) <= LONGEST_KEY or not text.isprintable():
        raise RequestInvalid(f"a session key has 1 to {LONGEST_KEY} printable characters", param=param)
    return AffinityKey(text)


def asks_of(headers: Headers, cohort: str) -> Asks:
    """Raises `RequestInvalid`."""
    return _plain_asks(cohort) if _ASKING.isdisjoint(headers) else _full_asks(headers, cohort)


def request_id_of(headers: Headers) -> str | None:
    """The caller's own, if it can go into a header and a log."""
    given = headers.get(b"x-request-id", b"")
    if not 1 <= len(given) <= LONGEST_REQUEST_ID or not given.isascii():
        return None
    text = given.decode("ascii")
    return text if text.isprintable() else None


def _object(body: bytes) -> dict[str, object]:
    try:
        found = _decoded(body.decode())
    except UnicodeDecodeError as error:
        raise RequestInvalid("the body is not UTF-8") from error
    except RecursionError as error:
        raise RequestInvalid("the body is nested too deeply") from error
    except ValueError as error:
        raise RequestInvalid(f"the body is not JSON{_place(error)}") from error
    if not isinstance(found, dict):
        raise RequestInvalid("the body must be a JSON object")
    return found


def _decoded(text: str) -> object:
    if not text.startswith("{"):
        return _DECODER.decode(text)
    found: object
    # Spares the two searches for blanks with which `decode` begins and ends.
    found, end = _DECODER.raw_decode(text)
    if end != len(text) and text[end:].strip(" \t\r\n"):
        raise json.JSONDecodeError("Extra data", text, end)
    return found


def _place(error: ValueError) -> str:
    return f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""


def _cohort(messages: object) -> str:
    """Only a system prompt is worth it: any other first message is the session's own."""
    first = messages[0] if isinstance(messages, list) and messages else None
    return _cohort_of(first.get("role"), first.get("content")) if isinstance(first, dict) else ""


def _cohort_of(role: object, content: object) -> str:
    if role not in ("system", "developer") or not isinstance(content, str) or not content:
        return ""
    return _named(content[:_COHORT_CHARACTERS])


@lru_cache(maxsize=256)
def _named(prompt: str) -> str:
    return hashlib.blake2b(prompt.encode(errors="replace"), digest_size=8).hexdigest()


@lru_cache(maxsize=1024)
def _plain_asks(cohort: str) -> Asks:
    return Asks(demand=Demand(cohort=cohort))


def _full_asks(headers: Headers, cohort: str) -> Asks:
    prefer = _short(headers, _PREFER)
    return Asks(
        demand=Demand(kv_tokens=_number(headers, _KV, least=1, default=1), cohort=_short(headers, _COHORT) or cohort),
        prefer=ReplicaId(prefer) if prefer else None,
        mode=_mode(headers),
        ticket=Ticket(
            drill=_short(headers, _DRILL),
            account=_short(headers, _ACCOUNT),
            priority=_number(headers, _PRIORITY, least=-_LARGEST, default=0),
        ),
        may_continue=headers.get(_NO_CONTINUE, b"0") in {b"", b"0", b"false"},
    )


def _mode(headers: Headers) -> PinMode | None:
    given = _short(headers, _MODE)
    if given and given not in set(PinMode):
        raise RequestInvalid("X-Pin-Mode is soft or hard", param="X-Pin-Mode")
    return PinMode(given) if given else None


def _number(headers: Headers, name: bytes, *, least: int, default: int) -> int:
    given = headers.get(name)
    if given is None:
        return default
    try:
        number = int(given) if len(given) <= len(str(-_LARGEST)) else None
    except ValueError:
        number = None
    if number is None or not least <= number <= _LARGEST:
        raise RequestInvalid(f"{_shown(name)} is a whole number from {least} to {_LARGEST}", param=_shown(name))
    return number


def _short(headers: Headers, name: bytes) -> str:
    given = headers.get(name)
    if not given:
        return ""
    text = _text(given, _shown(name))
    if len(text) > LONGEST_KEY or not text.isprintable():
        raise RequestInvalid(f"{_shown(name)} has at most {LONGEST_KEY} printable characters", param=_shown(name))
    return text


def _shown(name: bytes) -> str:
    return name.decode("ascii").title().replace("-Id", "-ID").replace("-Kv", "-KV")


def _text(value: bytes, param: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise RequestInvalid(f"{param} is not UTF-8", param=param) from error


def _cookie(header: bytes) -> str | None:
    try:
        found = SimpleCookie(header.decode("latin-1")).get(SESSION_COOKIE)
    except CookieError:
        return None
    return found.value if found is not None and found.value else None
