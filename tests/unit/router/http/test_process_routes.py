"""What a router process says of itself."""

from dataclasses import replace

from router.http.access import Access
from router.http.app import RouterApp
from router.http.generating import Generating
from router.http.process_routes import Process, ProcessRoutes
from tests.unit.router.http.caller import Caller, FakeCarrier


async def exposition() -> bytes:
    return b"drillyard_router_up 1\n"


PROCESS = Process(
    version="1.2.3", instance="one", unready=lambda: None, metrics=exposition, config=lambda: {"port": 8090}
)


def caller(process: Process = PROCESS) -> Caller:
    generating = Generating(router=FakeCarrier(), body_limit=100)
    access = Access.of(clients=["c"], operators=["o"])
    return Caller(
        RouterApp(generating=generating, routes=ProcessRoutes(process).routes(), access=access, body_limit=100)
    )


async def test_it_lives_and_says_which_it_is() -> None:
    assert (await caller().call("GET", "/livez")).json() == {"status": "alive", "instance": "one"}
    assert (await caller().call("GET", "/version")).json() == {"version": "1.2.3"}


async def test_readiness_says_what_is_missing() -> None:
    assert (await caller().call("GET", "/readyz")).status == 200
    heard = await caller(replace(PROCESS, unready=lambda: "no replica is ready")).call("GET", "/readyz")
    assert (heard.status, heard.json()) == (503, {"status": "unready", "reason": "no replica is ready"})


async def test_metrics_are_plain_text_for_anybody() -> None:
    heard = await caller().call("GET", "/metrics")
    assert heard.body == b"drillyard_router_up 1\n"
    assert heard.headers[b"content-type"].startswith(b"text/plain; version=0.0.4")


async def test_the_settings_in_force_are_for_operators() -> None:
    assert (await caller().call("GET", "/config")).status == 401
    assert (await caller().call("GET", "/config", authorization="Bearer o")).json() == {"port": 8090}
