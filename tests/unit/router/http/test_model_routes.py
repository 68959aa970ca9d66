"""The models of all pools."""

from router.domain.fleet import Fleet, Replica, ReplicaId
from router.http.access import Access
from router.http.app import RouterApp
from router.http.generating import Generating
from router.http.model_routes import ModelRoutes
from tests.unit.router.http.caller import Caller, FakeCarrier

FLEET = Fleet(
    (
        Replica(ReplicaId("a"), "http://a", models=frozenset({"small", "org/large"})),
        Replica(ReplicaId("b"), "http://b", models=frozenset({"small"})),
    )
)


def caller() -> Caller:
    routes = ModelRoutes(fleet=lambda: FLEET, since=7).routes()
    generating = Generating(router=FakeCarrier(), body_limit=100)
    return Caller(RouterApp(generating=generating, routes=routes, access=Access(), body_limit=100))


async def test_each_model_is_listed_once() -> None:
    listed = (await caller().call("GET", "/v1/models")).json()
    assert listed["object"] == "list"
    assert [model["id"] for model in listed["data"]] == ["org/large", "small"]
    assert listed["data"][0] == {"id": "org/large", "object": "model", "created": 7, "owned_by": "drillyard"}


async def test_one_model_can_be_asked_for() -> None:
    assert (await caller().call("GET", "/v1/models/org%2Flarge")).json()["id"] == "org/large"
    refused = await caller().call("GET", "/v1/models/other")
    assert (refused.status, refused.code) == (404, "model_not_found")
