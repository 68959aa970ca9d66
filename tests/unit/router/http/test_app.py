"""The whole application, asked without a server."""

from router.http.access import Access
from router.http.answer import Answer, told
from router.http.app import RouterApp
from router.http.generating import Generating
from router.http.model_routes import ModelRoutes
from router.http.routes import Caller as By
from router.http.routes import Request, Route
from tests.unit.router.http.caller import Caller, FakeCarrier


async def echo(request: Request) -> Answer:
    return told({"body": request.body.decode(), "query": dict(request.query)})


async def empty(_request: Request) -> Answer:
    return Answer(204)


def caller(access: Access | None = None) -> Caller:
    carrier = FakeCarrier()
    routes = (
        *ModelRoutes(fleet=carrier.fleet, since=7).routes(),
        Route(("echo",), By.OPERATOR, {"POST": echo, "DELETE": empty}),
    )
    generating = Generating(router=carrier, body_limit=100)
    return Caller(RouterApp(generating=generating, routes=routes, access=access or Access(), body_limit=100))


async def test_an_unknown_path_is_not_found() -> None:
    heard = await caller().call("GET", "/nothing")
    assert (heard.status, heard.code) == (404, "not_found")
    assert heard.headers[b"content-type"] == b"application/json"


async def test_generating_takes_a_post_alone() -> None:
    heard = await caller().call("GET", "/v1/chat/completions")
    assert (heard.status, heard.headers[b"allow"]) == (405, b"POST")


async def test_generating_needs_a_key_where_there_are_keys() -> None:
    access = Access.of(clients=["c"], operators=["o"])
    assert (await caller(access).post("/v1/chat/completions", {})).code == "unauthenticated"
    body = {"model": "smollm2"}
    assert (await caller(access).post("/v1/chat/completions", body, authorization="Bearer c")).status == 200


async def test_a_route_gets_its_body_and_its_query() -> None:
    heard = await caller().post("/echo?force=true", {"a": 1})
    assert heard.json() == {"body": '{"a": 1}', "query": {"force": "true"}}


async def test_a_route_without_content_sends_none() -> None:
    heard = await caller().call("DELETE", "/echo")
    assert (heard.status, heard.body, heard.headers) == (204, b"", {})


async def test_a_body_must_be_json_and_not_too_long() -> None:
    assert (await caller().post("/echo", b"x" * 101)).code == "body_too_large"
    assert (await caller().call("POST", "/echo")).code == "unsupported_media_type"


async def test_a_client_lost_before_its_body_is_not_answered() -> None:
    one = caller()
    one.gone.set()
    assert (await one.post_in_pieces("/echo", [])).status == 0
