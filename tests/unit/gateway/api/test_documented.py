from gateway.api.documented import IDEMPOTENCY_KEY, READ, TAKE, takes
from gateway.api.requests import PageQuery, TurnBody


def test_a_body_and_a_header_stand_in_the_description() -> None:
    described = takes(body=TurnBody, headers=(IDEMPOTENCY_KEY,))
    schema = described["requestBody"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/TurnBody"}
    assert [parameter["name"] for parameter in described["parameters"]] == ["Idempotency-Key"]


def test_a_query_stands_in_the_description() -> None:
    described = takes(query=PageQuery)
    assert [parameter["name"] for parameter in described["parameters"]] == ["limit", "cursor"]
    assert "requestBody" not in described
    assert takes() == {}


def test_every_route_behind_a_key_may_refuse_for_the_key() -> None:
    for responses in (READ, TAKE):
        assert {401, 403, 503} <= set(responses)
    assert "text/event-stream" in TAKE[200]["content"]
