"""How a route reaches the services that were made at start."""

from starlette.requests import Request

from gateway.services import Services


def services_of(request: Request) -> Services:
    services: Services = request.state.services
    return services
