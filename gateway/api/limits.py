"""Limits over HTTP, for operators: what holds for a tenant and its accounts, and changes of it.

A change takes effect in this process at once, and in the others within seconds; nothing is restarted.
"""

from uuid import UUID

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import LimitReader, LimitSetter
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import CHANGE, ORDER, READ, takes
from gateway.api.ids import account_id_of
from gateway.api.limit_views import LimitsTableView, OwnLimitsBody, TenantLimitsBody
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery
from gateway.domain.limit_layers import OwnLimits, TenantOwn
from sessions.domain.viewer import Viewer

routes = APIRouter(tags=["limits"])


@routes.get("/v1/limits", response_model=LimitsTableView, responses=READ)
async def read_limits(request: Request, viewer: LimitReader) -> Response:
    """What each account of the tenant has that has no other by its role or of its own."""
    query_of(request, NoQuery)
    return await _of_tenant(request, viewer)


@routes.put("/v1/limits", response_model=LimitsTableView, responses=ORDER, openapi_extra=takes(body=TenantLimitsBody))
async def set_limits(request: Request, viewer: LimitSetter) -> Response:
    """What is not named is inherited from now on."""
    query_of(request, NoQuery)
    body = await body_of(request, TenantLimitsBody)
    await services_of(request).limits.set_tenant(viewer.tenant, body.of_tenant())
    return await _of_tenant(request, viewer)


@routes.delete("/v1/limits", response_model=LimitsTableView, responses=CHANGE)
async def clear_limits(request: Request, viewer: LimitSetter) -> Response:
    query_of(request, NoQuery)
    await services_of(request).limits.set_tenant(viewer.tenant, TenantOwn())
    return await _of_tenant(request, viewer)


@routes.get("/v1/limits/accounts/{account_id}", response_model=LimitsTableView, responses=READ)
async def read_account_limits(request: Request, viewer: LimitReader, account_id: str) -> Response:
    query_of(request, NoQuery)
    return await _of_account(request, viewer, account_id_of(account_id))


@routes.put(
    "/v1/limits/accounts/{account_id}",
    response_model=LimitsTableView,
    responses=ORDER,
    openapi_extra=takes(body=OwnLimitsBody),
)
async def set_account_limits(request: Request, viewer: LimitSetter, account_id: str) -> Response:
    """What is not named is inherited from now on."""
    query_of(request, NoQuery)
    body, account = await body_of(request, OwnLimitsBody), account_id_of(account_id)
    await services_of(request).limits.set_account(viewer.tenant, account, body.own())
    return await _of_account(request, viewer, account)


@routes.delete("/v1/limits/accounts/{account_id}", response_model=LimitsTableView, responses=CHANGE)
async def clear_account_limits(request: Request, viewer: LimitSetter, account_id: str) -> Response:
    query_of(request, NoQuery)
    account = account_id_of(account_id)
    await services_of(request).limits.set_account(viewer.tenant, account, OwnLimits())
    return await _of_account(request, viewer, account)


async def _of_tenant(request: Request, viewer: Viewer) -> Response:
    table = await services_of(request).limits.tenant_table(viewer.tenant)
    return answer(LimitsTableView.of(table))


async def _of_account(request: Request, viewer: Viewer, account: UUID) -> Response:
    table = await services_of(request).limits.account_table(viewer.tenant, account)
    return answer(LimitsTableView.of(table))
