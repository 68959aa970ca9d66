"""Paths, who may call them, and what they take."""

import pytest

from router.http.access import Access
from router.http.answer import Answer
from router.http.errors import MethodNotAllowed, NotFound, RequestInvalid, Unauthenticated
from router.http.routes import ANY, Caller, Request, Route, admission, find, query_of


async def handler(_request: Request) -> Answer:
    return Answer(200)


ROUTES = (
    Route(("livez",), Caller.ANYONE, {"GET": handler}),
    Route(("v1", "models", ANY), Caller.CLIENT, {"GET": handler}),
    Route(("replicas", ANY, "drain"), Caller.OPERATOR, {"POST": handler, "DELETE": handler}),
)
OPEN = admission(Access(), {})


def test_variable_segments_are_handed_over_decoded() -> None:
    found = find(ROUTES, "GET", b"/v1/models/meta%2Fllama%203", admitted=OPEN)
    assert found.named == ("meta/llama 3",)


def test_a_head_is_asked_like_a_get() -> None:
    assert find(ROUTES, "HEAD", b"/livez", admitted=OPEN).handler is handler


@pytest.mark.parametrize("path", [b"/", b"/livez/", b"/v1/models", b"/nothing", b"/v1/models/%ff", b"//livez"])
def test_other_paths_are_not_there(path: bytes) -> None:
    with pytest.raises(NotFound):
        find(ROUTES, "GET", path, admitted=OPEN)


def test_another_method_is_told_which_there_are() -> None:
    with pytest.raises(MethodNotAllowed) as refused:
        find(ROUTES, "GET", b"/replicas/a/drain", admitted=OPEN)
    assert refused.value.allowed == ("DELETE", "POST")
    with pytest.raises(MethodNotAllowed) as refused:
        find(ROUTES, "POST", b"/livez", admitted=OPEN)
    assert refused.value.allowed == ("GET", "HEAD")


def test_who_may_not_call_learns_nothing_more() -> None:
    closed = admission(Access.of(clients=["c"], operators=["o"]), {})
    find(ROUTES, "GET", b"/livez", admitted=closed)
    for method, path in (("GET", b"/v1/models/a"), ("GET", b"/replicas/a/drain")):
        with pytest.raises(Unauthenticated):
            find(ROUTES, method, path, admitted=closed)


def test_a_query_is_read_or_refused() -> None:
    assert query_of(b"force=true&x=") == {"force": "true", "x": ""}
    for wrong in (b"\xff", b"&".join(b"a=1" for _ in range(30))):
        with pytest.raises(RequestInvalid):
            query_of(wrong)
