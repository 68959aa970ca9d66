"""An instance of a JSON schema, chosen by dice: what constrained decoding makes a model write."""

import json
from collections.abc import Mapping, Sequence

from loadtests.domain.dice import Dice
from loadtests.simulator.domain.regex_sample import sample

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Schema = dict[str, Json]

_WORDS = ("clear", "brief", "polite", "open", "firm", "calm", "direct", "fair", "warm", "exact", "patient", "curious")
_FORMATS = {
    "date": "2026-11-29",
    "time": "12:00:00Z",
    "date-time": "2026-11-29T12:00:00Z",
    "duration": "PT30M",
    "email": "trainee@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uuid": "3f2b8c1e-5d4a-4e6f-9a7b-1c2d3e4f5a6b",
}
_DEEPEST = 12  # A schema that holds itself is left out where it may be, from here on.

_ENOUGH_VALUES = 200  # From here on too: a schema that holds itself twice would double with every level.
_MOST_VALUES = 10_000
_MOST_LETTERS = 100_000


class UnsupportedSchema(ValueError):
    """A schema that nothing, or nothing we can think of, fits."""


def instance_text(schema: Schema, dice: Dice) -> str:
    return json.dumps(instance(schema, dice), ensure_ascii=False)


def instance(schema: Schema, dice: Dice) -> Json:
    return _Writer(schema, dice).write(schema, depth=0)


class _Writer:
    def __init__(self, root: Schema, dice: Dice) -> None:
        self._root = root
        self._dice = dice
        self._values = 0

    def write(self, asked: Json, *, depth: int) -> Json:
        self._values += 1
        if self._values > _MOST_VALUES:
            raise UnsupportedSchema("an instance with too many values")
        schema = self._resolved(asked, depth=depth)
        if "const" in schema:
            return schema["const"]
        if isinstance(choices := schema.get("enum"), list) and choices:
            return self._dice.one_of(choices)
        for key in ("anyOf", "oneOf"):
            if isinstance(options := schema.get(key), list) and options:
                return self.write(self._option(schema, key, options, depth=depth), depth=depth + 1)
        return self._typed(_kind(schema, self._dice), schema, depth=depth)

    def _is_enough(self, depth: int) -> bool:
        """Only what has to be there is still written."""
        return depth >= _DEEPEST or self._values >= _ENOUGH_VALUES

    def _typed(self, kind: str, schema: Schema, *, depth: int) -> Json:
        match kind:
            case "object":
                return self._object(schema, depth=depth)
            case "array":
                return self._array(schema, depth=depth)
            case "string":
                return self._string(schema)
            case "integer":
                return self._integer(schema)
            case "number":
                return self._number(schema)
            case "boolean":
                return self._dice.below(2) == 0
            case "null":
                return None
            case _:
                raise UnsupportedSchema(f"unknown type {kind!r}")

    def _resolved(self, schema: Json, *, depth: int) -> Schema:
        """Without references and `allOf`; true stands for any object."""
        if not isinstance(schema, dict):
            if schema is False:
                raise UnsupportedSchema("a schema that allows nothing")
            return {}
        followed = 0
        while isinstance(reference := schema.get("$ref"), str):
            followed += 1
            if depth + followed > 2 * _DEEPEST:
                raise UnsupportedSchema("a schema that holds itself and cannot end")
            schema = {**self._pointed(reference), **{k: v for k, v in schema.items() if k != "$ref"}}
        if isinstance(parts := schema.get("allOf"), list):
            merged: dict[str, Json] = {key: value for key, value in schema.items() if key != "allOf"}
            for part in parts:
                merged = _merged(merged, self._resolved(part, depth=depth + 1))
            return merged
        return schema

    def _pointed(self, reference: str) -> Schema:
        found: Json = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                raise UnsupportedSchema(f"nothing is at {reference}")
            found = found[name]
        if not isinstance(found, dict):
            raise UnsupportedSchema(f"no schema is at {reference}")
        return found

    def _option(self, schema: Schema, key: str, options: Sequence[Json], *, depth: int) -> Json:
        beside = {name: value for name, value in schema.items() if name != key}
        # Deep down the option that ends soonest: a plain value rather than a reference.
        simple = [each for each in options if isinstance(each, dict) and "$ref" not in each]
        chosen = self._dice.one_of(simple if self._is_enough(depth) and simple else options)
        return _merged(beside, self._resolved(chosen, depth=depth))

    def _object(self, schema: Schema, *, depth: int) -> Json:
        properties = _mapping(schema.get("properties"))
        required = [name for name in _list(schema.get("required")) if isinstance(name, str)]
        names = [name for name in properties if name in required or not self._is_enough(depth)]
        written = {name: self.write(properties[name], depth=depth + 1) for name in names}
        others = schema.get("additionalProperties", True)
        missing = [name for name in required if name not in written]
        written |= {name: self.write(others, depth=depth + 1) for name in missing}
        for number in range(_whole(schema, "minProperties", 0) - len(written)):
            written[f"more_{number + 1}"] = self.write(others, depth=depth + 1)
        return written

    def _array(self, schema: Schema, *, depth: int) -> Json:
        firsts = _list(schema.get("prefixItems"))
        least = _whole(schema, "minItems", 0)
        most = _whole(schema, "maxItems", max(least, len(firsts), 3))
        wanted = least if self._is_enough(depth) else self._dice.between(max(least, min(1, most)), most)
        items: list[Json] = []
        for place in range(max(wanted, min(len(firsts), most))):
            item = firsts[place] if place < len(firsts) else schema.get("items", True)
            items.append(self._another(item, items, unique=schema.get("uniqueItems") is True, depth=depth + 1))
        return items

    def _another(self, schema: Json, others: Sequence[Json], *, unique: bool, depth: int) -> Json:
        for _ in range(100):
            item = self.write(schema, depth=depth)
            if not unique or item not in others:
                return item
        raise UnsupportedSchema("too few different items")

    def _string(self, schema: Schema) -> str:
        if isinstance(pattern := schema.get("pattern"), str):
            return sample(pattern, self._dice)
        if isinstance(name := schema.get("format"), str) and name in _FORMATS:
            return _FORMATS[name]
        least, most = _whole(schema, "minLength", 0), _whole(schema, "maxLength", 1_000_000)
        if least > _MOST_LETTERS:
            raise UnsupportedSchema("too long a text")
        text = " ".join(self._dice.one_of(_WORDS) for _ in range(self._dice.between(1, 4)))
        while len(text) < least:
            text += f" {self._dice.one_of(_WORDS)}"
        return text[:most]

    def _integer(self, schema: Schema) -> int:
        least, most = _bounds(schema, step=1)
        whole_least, whole_most = -int(-least // 1), int(most // 1)
        step = _whole(schema, "multipleOf", 1)
        first, last = -(-whole_least // step), whole_most // step
        if first > last:
            raise UnsupportedSchema("no integer lies between the bounds")
        return step * self._dice.between(first, last)

    def _number(self, schema: Schema) -> float:
        if isinstance(step := schema.get("multipleOf"), int | float):
            least, most = _bounds(schema, step=step)
            first, last = -int(-least // step), int(most // step)
            if first > last:
                raise UnsupportedSchema("no number lies between the bounds")
            return round(step * self._dice.between(first, last), 10)
        least, most = _bounds(schema, step=1e-9)
        return round(least + (most - least) * self._dice.between(1, 99) / 100, 6)


def _kind(schema: Schema, dice: Dice) -> str:
    kind = schema.get("type")
    if isinstance(kind, list) and kind:
        return str(dice.one_of(kind))
    if isinstance(kind, str):
        return kind
    hints = {
        "properties": "object",
        "required": "object",
        "items": "array",
        "prefixItems": "array",
        "pattern": "string",
        "maxLength": "string",
        "minimum": "number",
        "maximum": "number",
    }
    return next((kind for key, kind in hints.items() if key in schema), "string")


def _bounds(schema: Schema, *, step: float) -> tuple[float, float]:
    """A hundred wide where a bound is missing."""
    least, most = _number_at(schema, "minimum"), _number_at(schema, "maximum")
    above, below = _number_at(schema, "exclusiveMinimum"), _number_at(schema, "exclusiveMaximum")
    if above is not None:
        least = max(above + step, above + step if least is None else least)
    if below is not None:
        most = min(below - step, below - step if most is None else most)
    if least is None:
        least = 0.0 if most is None or most >= 0 else most - 100
    return least, max(least, least + 100) if most is None else most


def _number_at(schema: Schema, key: str) -> float | None:
    value = schema.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(schema: Schema, key: str, otherwise: int) -> int:
    value = schema.get(key)
    return int(value) if isinstance(value, int | float) and value >= 0 else otherwise


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else []


def _merged(one: Schema, other: Schema) -> dict[str, Json]:
    """What fits both, where that is simple: properties and required names add up, everything else is the other's."""
    merged = {**one, **other}
    if "properties" in one and "properties" in other:
        merged["properties"] = {**_mapping(one["properties"]), **_mapping(other["properties"])}
    if "required" in one and "required" in other:
        merged["required"] = [*_list(one["required"]), *_list(other["required"])]
    return merged
