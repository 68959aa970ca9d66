"""What is made fits the schema it was made from, as an independent validator judges it."""

import json
from typing import Any

import jsonschema
import pytest

from loadtests.domain.dice import Dice
from loadtests.simulator.domain.json_instance import Schema, UnsupportedSchema, instance, instance_text

NODE: dict[str, Any] = {
    "type": "object",
    "properties": {"value": {"type": "number"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    "required": ["value", "next"],
}
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    "required": ["children"],
}

SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"city": {"type": "string", "maxLength": 12}}, "required": ["city"]},
    {
        "type": "object",
        "properties": {
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "why": {"type": "string", "minLength": 60},
            "tags": {
                "type": "array",
                "items": {"enum": ["a", "b", "c"]},
                "minItems": 2,
                "maxItems": 3,
                "uniqueItems": True,
            },
        },
        "required": ["score", "why", "tags"],
        "additionalProperties": False,
    },
    {"$ref": "#/$defs/node", "$defs": {"node": NODE}},
    {"$ref": "#/$defs/tree", "$defs": {"tree": TREE}},
    {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": {"type": "number", "multipleOf": 0.5}}, "required": ["b"]},
        ]
    },
    {"allOf": [{"$ref": "#/$defs/x~1y"}, {"maximum": 3}], "$defs": {"x/y": {"type": "integer", "minimum": 2}}},
    {"oneOf": [{"type": "string"}, {"type": "integer"}], "description": "either"},
    {"type": ["string", "null"]},
    {"const": {"fixed": [1, 2]}},
    {"enum": [1, "two", None]},
    {"type": "integer", "maximum": -5},
    {"type": "integer", "multipleOf": 7, "minimum": 10, "maximum": 30},
    {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "number", "minimum": 2, "exclusiveMinimum": 3, "maximum": 9, "exclusiveMaximum": 8},
    {"type": "boolean"},
    {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False, "maxItems": 2},
    {"type": "array", "maxItems": 0},
    {"type": "array", "items": True},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "unheard-of"},
    {"type": "string", "pattern": "^[A-Z]\\d$"},
    {"type": "object", "minProperties": 3},
    {"type": "object", "required": ["named", "only"]},
    {"type": "object", "required": ["n"], "additionalProperties": {"type": "integer"}},
    {"properties": {"implied": {"type": "null"}}},
    {"minimum": 3},
    {"pattern": "^x$"},
    {"items": {"type": "null"}, "minItems": 1},
    {"enum": [], "anyOf": [], "type": []},
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_an_instance_fits(schema: Schema) -> None:
    judged = {key: value for key, value in schema.items() if value != []}
    for seed in range(40):
        jsonschema.validate(instance(schema, Dice(seed, "")), judged)


def test_the_text_is_json_with_its_own_characters() -> None:
    assert instance_text({"const": "价格"}, Dice(0, "")) == '"价格"'


def test_the_same_dice_write_the_same() -> None:
    schema = SCHEMAS[1]
    assert instance(schema, Dice(3, "x")) == instance(schema, Dice(3, "x"))
    assert len({instance_text(schema, Dice(seed, "x")) for seed in range(10)}) > 5


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "unheard-of"},
        {"type": "object", "properties": {"never": False}},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#/type", "type": "string"},
        {"type": "integer", "minimum": 4, "maximum": 3},
        {"type": "number", "multipleOf": 5, "minimum": 1, "maximum": 4},
        {"type": "array", "items": {"const": 1}, "minItems": 2, "uniqueItems": True},
        {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"type": "array", "items": {"type": "null"}, "minItems": 10**30},
        {"type": "object", "minProperties": 10**30},
        {"type": "string", "minLength": 10**30},
    ],
    ids=json.dumps,
)
def test_what_nothing_fits_is_said_to_be_so(schema: Schema) -> None:
    with pytest.raises(UnsupportedSchema):
        instance(schema, Dice(0, ""))


def test_a_schema_that_holds_itself_many_times_does_not_grow_without_end() -> None:
    schema: Schema = {"type": "object", "properties": {name: {"$ref": "#"} for name in "abcdefgh"}}
    assert len(instance_text(schema, Dice(0, ""))) < 10_000
