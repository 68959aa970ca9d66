"""Reading the small JSON bodies of operators' calls; what is not asked for is refused, so that a typo is noticed."""

import json
import math
from collections.abc import Collection, Mapping

from router.http.errors import RequestInvalid


def fields_of(body: bytes, *, known: Collection[str]) -> Mapping[str, object]:
    """An empty body has no fields. Raises `RequestInvalid`."""
    try:
        found: object = json.loads(body.decode()) if body else {}
    except (ValueError, RecursionError) as error:
        raise RequestInvalid("the body is not JSON") from error
    if not isinstance(found, dict):
        raise RequestInvalid("the body must be a JSON object")
    for name in found:
        if name not in known:
            raise RequestInvalid(f"there is no field {name[:100]!r}", param=name[:100])
    return found


def text_field(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise RequestInvalid(f"{name} is needed, as text", param=name)
    return value


def texts_field(fields: Mapping[str, object], name: str) -> tuple[str, ...]:
    """Empty when it is not given."""
    value = fields.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise RequestInvalid(f"{name} is a list of texts", param=name)
    return tuple(value)


def seconds_field(fields: Mapping[str, object], name: str, *, most: float) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise RequestInvalid(f"{name} is a number of seconds", param=name)
    if not 0 <= value <= most:
        raise RequestInvalid(f"{name} is from 0 to {most:g} seconds", param=name)
    return float(value)
