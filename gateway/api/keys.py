"""API keys over HTTP, for the operators of a tenant: made and shown once, listed, revoked."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Self
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import KeyManager
from gateway.api.answers import answer, nothing
from gateway.api.body import body_of
from gateway.api.documented import READ, WRITE, takes
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import KeyBody, NoQuery, PageQuery
from gateway.api.views import PageView, View
from gateway.domain.access import KeyId, Role, StoredKey, new_key
from gateway.domain.cursor import read_number, written_number
from gateway.domain.scopes import asked_scopes, written_scopes
from gateway.errors import KeyNotFound
from gateway.ports import Account

routes = APIRouter(tags=["keys"])


class KeyView(View):
    id: str
    account_id: UUID
    name: str
    role: str
    label: str | None
    scopes: tuple[str, ...] | None = Field(description="all it may be used for; null: whatever its role may do")
    state: str
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="may be a minute late")

    @classmethod
    def of(cls, key: StoredKey, owner: Account, now: datetime) -> Self:
        return cls(**_shown(key, owner, now))


class NewKeyView(KeyView):
    key: str = Field(description="what its owner sends; it is told this once, and nobody can look it up")


@routes.post(
    "/v1/keys",
    status_code=HTTPStatus.CREATED,
    response_model=NewKeyView,
    responses=WRITE,
    openapi_extra=takes(body=KeyBody),
)
async def create_key(request: Request, viewer: KeyManager) -> Response:
    query_of(request, NoQuery)
    body = await body_of(request, KeyBody)
    access, now = services_of(request).access, services_of(request).clock()
    role = Role(body.role)
    scopes = asked_scopes(body.scopes, role)
    ends = None if body.expires_in_s is None else now + timedelta(seconds=body.expires_in_s)
    owner = await access.accounts.account(viewer.tenant, body.name, role, at=now)
    of = replace(owner.principal, scopes=scopes)
    made = new_key(of, dice=secrets.token_bytes, expires_at=ends, label=body.label)
    await access.keys.add(made.stored, at=now)
    shown = NewKeyView(**_shown(made.stored, owner, now), key=made.written)
    return answer(shown, HTTPStatus.CREATED)


@routes.get("/v1/keys", response_model=PageView[KeyView], responses=READ, openapi_extra=takes(query=PageQuery))
async def list_keys(request: Request, viewer: KeyManager) -> Response:
    query = query_of(request, PageQuery)
    after = read_number(query.cursor) if query.cursor is not None else 0
    now = services_of(request).clock()
    found = await services_of(request).access.keys.of_tenant(viewer.tenant)
    return answer(_page(found, after, query.limit, now))


@routes.delete("/v1/keys/{key_id}", status_code=HTTPStatus.NO_CONTENT, responses=READ)
async def revoke_key(request: Request, viewer: KeyManager, key_id: str) -> Response:
    query_of(request, NoQuery)
    services = services_of(request)
    if not await services.access.keys.revoke(viewer.tenant, KeyId(key_id), at=services.clock()):
        raise KeyNotFound
    return nothing()


def _page(found: Sequence[tuple[StoredKey, Account]], after: int, limit: int, now: datetime) -> PageView[KeyView]:
    end = after + limit
    more = written_number(end) if len(found) > end else None
    shown = tuple(KeyView.of(key, owner, now) for key, owner in found[after:end])
    return PageView[KeyView](items=shown, next_cursor=more)


def _shown(key: StoredKey, owner: Account, now: datetime) -> dict[str, object]:
    return {
        "id": key.id,
        "account_id": owner.id,
        "name": owner.name,
        "role": owner.role,
        "label": key.label,
        "scopes": written_scopes(key.principal.scopes),
        "state": key.state(now),
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }
