"""Reading a query string strictly: known names only, each once."""

import re
from collections.abc import Iterator

from pydantic import BaseModel
from starlette.requests import Request

from gateway.api.body import Model, RequestInvalid, taken

_INTEGER = re.compile(r"-?[0-9]{1,12}", re.ASCII)
_INTEGERS = ("limit", "version", "hours", "trainees", "minutes")


def query_of(request: Request, model: type[Model]) -> Model:
    """Raises `RequestInvalid`."""
    pairs = request.query_params.multi_items()
    faults = list(_faults(pairs))
    if faults:
        raise RequestInvalid(faults)
    return taken(model, dict(pairs))


def described(model: type[BaseModel]) -> list[dict[str, object]]:
    """The parameters of a query as OpenAPI describes them; none of ours is required."""
    properties = model.model_json_schema()["properties"]
    return [{"name": name, "in": "query", "required": False, "schema": schema} for name, schema in properties.items()]


def _faults(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    seen = set()
    for name, value in pairs:
        if name in seen:
            yield name, "it is given more than once"
        if name in _INTEGERS and not _INTEGER.fullmatch(value):
            yield name, "it must be a whole number"
        seen.add(name)
