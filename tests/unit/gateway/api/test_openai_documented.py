from jsonschema import Draft202012Validator

from gateway.api.openai_documented import CHAT, COMPLETE, REFUSALS
from gateway.api.openai_errors import error_object
from gateway.errors import ModelNotServed, Unauthenticated
from gateway.problems import problem


def test_what_is_described_is_a_schema_and_fits_what_is_told() -> None:
    for refusals in (REFUSALS, COMPLETE):
        schema = refusals[404]["content"]["application/json"]["schema"]
        Draft202012Validator.check_schema(schema)
        for error in (ModelNotServed("x"), Unauthenticated("no")):
            Draft202012Validator(schema).validate(error_object(problem(error)))


def test_the_least_request_fits_its_schema() -> None:
    schema = CHAT["requestBody"]["content"]["application/json"]["schema"]
    body = Draft202012Validator(schema)
    assert body.is_valid({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0})
    assert not body.is_valid({"model": "m", "messages": []})
