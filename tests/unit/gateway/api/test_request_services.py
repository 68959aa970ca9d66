from starlette.requests import Request

from gateway.api.request_services import services_of


def test_the_services_come_from_the_state_of_the_application() -> None:
    made_at_start = object()
    assert services_of(Request({"type": "http", "state": {"services": made_at_start}})) is made_at_start
