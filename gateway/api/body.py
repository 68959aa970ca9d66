"""Reading a JSON body strictly: bounded while it comes, UTF-8, no duplicate names, no numbers that nobody can mean."""

import json
import math
from collections.abc import Sequence
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from gateway.api.lost_client import ClientGone
from gateway.api.request_services import services_of
from gateway.domain.accept import JSON
from gateway.errors import BodyNotJson, BodyTooLarge, UnsupportedMediaType

Model = TypeVar("Model", bound=BaseModel)

MAX_FAULTS = 20
MAX_FIELD_CHARS = 100
MAX_NUMBER_CHARS = 40
MAX_NAMES = 1000
MAX_BRACKETS = 30_000
"""Whoever reads a body holds everybody's turns up; without this bound 256 KiB could take a tenth of a second. Brackets
within texts count too, and nobody writes so many of them either.
"""


class RequestInvalid(Exception):
    """Some fields of a request cannot be taken; `faults` holds the name and the reason of each."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        super().__init__("the request is not valid")
        self.faults = tuple(faults)


async def body_of(request: Request, model: type[Model], *, limit_bytes: int = 0) -> Model:
    """The request's body as this model; raises what is wrong with it, and keeps nothing of it then.

    `limit_bytes` is for a body that may be larger than others.
    """
    if media_type_of(request) != JSON:
        raise UnsupportedMediaType(f"the body must be {JSON}")
    limit = max(limit_bytes, services_of(request).settings.body_limit_bytes)
    return taken(model, parsed(await raw_of(request, limit)))


async def body_or_none_of(request: Request, model: type[Model]) -> Model:
    """As `body_of`; a request without a body is the model with all its defaults."""
    headers = request.headers
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return taken(model, {})
    return await body_of(request, model)


def taken(model: type[Model], value: object) -> Model:
    """Raises `RequestInvalid`; the reasons name fields and never repeat values."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
    raise RequestInvalid([(_field(item["loc"]), _reason(item["msg"])) for item in found[:MAX_FAULTS]])


def parsed(raw: bytes, *, most_brackets: int = MAX_BRACKETS) -> object:
    """Raises `BodyNotJson`."""
    if raw.count(b"[") + raw.count(b"{") > most_brackets:
        raise BodyNotJson(f"the body has more than {most_brackets} opening brackets")
    try:
        value: object = json.loads(
            raw.decode(),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_integer,
            parse_float=_float,
        )
        if b"\\u" in raw:  # only an escape can smuggle in half a surrogate pair, which no UTF-8 can carry
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise BodyNotJson("the body is not UTF-8") from None
    except UnicodeEncodeError:
        raise BodyNotJson("the body holds half a surrogate pair") from None
    except json.JSONDecodeError as error:
        raise BodyNotJson(f"the body is not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise BodyNotJson("the body is nested too deeply") from None
    return value


def media_type_of(request: Request) -> str:
    """What the body is said to be, empty where nothing is said; raises `UnsupportedMediaType` unless it is UTF-8 and as
    it is."""
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    charsets = [text for text in _plain(parameters).split(";") if text.startswith("charset=")]
    if not set(charsets) <= {"charset=utf-8", "charset=utf8"}:
        raise UnsupportedMediaType("the body must be UTF-8")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMediaType("the body must not be compressed")
    return media_type.strip().lower()


def _plain(parameters: str) -> str:
    return parameters.replace(" ", "").replace('"', "").lower()


async def raw_of(request: Request, limit: int) -> bytes:
    """The body's bytes; raises `BodyTooLarge` as soon as that is sure."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > len(str(limit)) + 1 or int(declared) > limit):
        raise BodyTooLarge(limit_bytes=limit)
    body, more = bytearray(), True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > limit:
            raise BodyTooLarge(limit_bytes=limit)
    return bytes(body)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(pairs) > MAX_NAMES:
        raise BodyNotJson(f"an object of the body has more than {MAX_NAMES} names")
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BodyNotJson("an object of the body has the same name twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise BodyNotJson(f"the body holds {name}, which is no JSON number")


def _integer(digits: str) -> int:
    _check_length(digits)
    return int(digits)


def _float(digits: str) -> float:
    _check_length(digits)
    number = float(digits)
    if math.isinf(number):
        raise BodyNotJson("the body holds a number that is too large")
    return number


def _check_length(digits: str) -> None:
    if len(digits) > MAX_NUMBER_CHARS:
        raise BodyNotJson(f"the body holds a number of more than {MAX_NUMBER_CHARS} characters")


def _field(location: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in location)[:MAX_FIELD_CHARS] or "body"


def _reason(message: str) -> str:
    return message.removeprefix("Value error, ")
