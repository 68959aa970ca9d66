import pytest
from starlette.requests import Request

from gateway.api.body import RequestInvalid
from gateway.api.query import described, query_of
from gateway.api.requests import NoQuery, PageQuery, SessionsQuery, VersionQuery


def asked(query: str) -> Request:
    return Request({"type": "http", "headers": [], "query_string": query.encode()})


def test_what_is_not_asked_has_a_value() -> None:
    assert query_of(asked(""), SessionsQuery) == SessionsQuery(limit=20)
    assert query_of(asked(""), NoQuery) == NoQuery()


def test_what_is_asked_is_read() -> None:
    found = query_of(asked("limit=7&state=open&trainee_id=a%20b&cursor=c"), SessionsQuery)
    assert found == SessionsQuery(limit=7, state="open", trainee_id="a b", cursor="c")
    assert query_of(asked("version=3"), VersionQuery).version == 3


@pytest.mark.parametrize(
    ("query", "field"),
    [
        *(("limit=x", "limit"), ("limit=1&limit=1", "limit"), ("limit=+1", "limit"), ("other=1", "other")),
        ("%00=1", "\x00"),
    ],
)
def test_what_cannot_be_asked_is_named(query: str, field: str) -> None:
    with pytest.raises(RequestInvalid) as caught:
        query_of(asked(query), PageQuery)
    assert caught.value.faults[0][0] == field


def test_a_query_is_described_by_its_parameters() -> None:
    parameters = described(PageQuery)
    assert [(parameter["name"], parameter["in"]) for parameter in parameters] == [
        ("limit", "query"),
        ("cursor", "query"),
    ]
    assert described(NoQuery) == []
