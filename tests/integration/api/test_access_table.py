"""The written table of who may call what, against the routes themselves."""

from fastapi.routing import APIRoute

from gateway.api.access import Door
from gateway.api.app import ROUTERS
from gateway.domain.access import ALLOWED
from tests.support.access_table import COLUMNS, Row, line, written_table

PUBLIC = {"/livez", "/readyz", "/metrics"}
ROUTES = [route for routes in ROUTERS for route in routes.routes if isinstance(route, APIRoute)]


def doors(route: APIRoute) -> list[Door]:
    return [each.call for each in route.dependant.dependencies if isinstance(each.call, Door)]


def test_every_route_is_public_or_has_one_door() -> None:
    for route in ROUTES:
        assert len(doors(route)) == (0 if route.path in PUBLIC else 1), route.path


def test_the_written_table_is_what_the_routes_do() -> None:
    made = {
        (method, route.path): Row(door.action, frozenset(role for role in COLUMNS if door.action in ALLOWED[role]))
        for route in ROUTES
        for door in doors(route)
        for method in route.methods or ()
    }
    wanted = "\n".join(line(*call, row) for call, row in sorted(made.items(), key=lambda entry: entry[0][::-1]))
    assert written_table() == made, f"docs/access.md should hold these rows:\n{wanted}"
