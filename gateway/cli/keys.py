"""`drillyard keys`: who may call the API."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer
from rich.table import Table

from gateway.cli.connection import DEFAULT_DATA, DataFolder
from gateway.cli.database import DatabaseUrl, database_url
from gateway.cli.drill_view import console
from gateway.cli.failure import CommandFailed
from gateway.cli.folding_table import folding_table
from gateway.cli.key_lifetime import lifetime
from gateway.domain.access import Action, KeyId, KeyState, Role, StoredKey, new_key
from gateway.domain.scopes import asked_scopes, written_scopes
from gateway.domain.token_claims import SLUG
from gateway.errors import AccountRefused, FieldInvalid, KeysUnavailable, TooManyKeys

if TYPE_CHECKING:
    from gateway.ports import Account
    from gateway.wiring.authoring import Administration

app = typer.Typer(
    help="Create, list, rotate and revoke API keys.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

MAX_NAME = 100

KeyArgument = Annotated[str, typer.Argument(metavar="KEY_ID", help="The part between dy_ and the next _.")]
Expires = Annotated[str | None, typer.Option(metavar="SPAN", help="45m, 12h, 90d or 8w; by default never.")]
Tenant = Annotated[str, typer.Option("--tenant", metavar="SLUG", help="The company or department, such as acme.")]


@app.callback()
def _group() -> None:
    """Create, list, rotate and revoke API keys."""


@app.command(
    epilog="Example:\n\n  drillyard keys create --tenant acme --role trainee --name li.wei --expires 90d\n\n"
    "The key alone goes to standard output, once; what is stored cannot bring it back."
)
def create(  # noqa: PLR0913  each is an option of the command
    *,
    tenant: Tenant,
    role: Annotated[Role, typer.Option(help="What the key may do.")],
    name: Annotated[str, typer.Option(help="Whose key it is; unique in the tenant.")],
    expires: Expires = None,
    label: Annotated[str | None, typer.Option(help="What the key is for.")] = None,
    scope: Annotated[
        list[str] | None, typer.Option(help="All it may be used for, such as read_sessions; may be given again.")
    ] = None,
    url: DatabaseUrl = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Make a key, with its account and tenant where they are new, and print it once. An account has two at most."""
    _check_slug(tenant)
    _check_line("name", name)
    if label is not None:
        _check_line("label", label)
    scopes = _scopes(scope, role)
    span = lifetime(expires) if expires is not None else None

    async def create_with(admin: "Administration") -> str:
        now = admin.clock.now()
        ends = now + span if span is not None else None
        is_new = await admin.accounts.tenant_id(tenant) is None
        account = await admin.accounts.account(
            await admin.accounts.tenant(tenant, name=tenant, at=now), name, role, at=now
        )
        owner = replace(account.principal, scopes=scopes)
        made = new_key(owner, dice=secrets.token_bytes, expires_at=ends, label=label)
        await admin.keys.add(made.stored, at=now)
        whose = f"{role.value} {name}, account {account.id}, tenant {tenant}{' (new)' if is_new else ''}"
        typer.echo(f"key {made.stored.id} of {whose}, {_until(ends)}", err=True)
        return made.written

    async def run() -> str:
        async with _administration(database_url(url, data=data)) as admin:
            return await create_with(admin)

    typer.echo(asyncio.run(run()))


@app.command("list", epilog="Example:\n\n  drillyard keys list --tenant acme")
def list_keys(tenant: Tenant, url: DatabaseUrl = None, data: DataFolder = DEFAULT_DATA) -> None:
    """List the keys of a tenant, oldest first; never the secrets, which nobody has."""
    _check_slug(tenant)

    async def run() -> Table:
        async with _administration(database_url(url, data=data)) as admin:
            now = admin.clock.now()
            table = folding_table("key", "role", "name", "label", "scopes", "state", "expires", "last used")
            for key, account in await admin.keys.of_tenant(await _known(admin, tenant)):
                table.add_row(*_cells(key, account, now))
            return table

    console().print(asyncio.run(run()), markup=False)


@app.command(
    epilog="Example:\n\n  drillyard keys rotate --tenant acme 3f9c0a51be77 --expires 90d\n\n"
    "The earlier key works on until `drillyard keys revoke` or its own end."
)
def rotate(
    key: KeyArgument,
    *,
    tenant: Tenant,
    expires: Expires = None,
    url: DatabaseUrl = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Make the key that takes another one's place, for the same account and things, and print it once."""
    _check_slug(tenant)
    span = lifetime(expires) if expires is not None else None

    async def run() -> str:
        async with _administration(database_url(url, data=data)) as admin:
            now = admin.clock.now()
            earlier = await _living(admin, await _known(admin, tenant), key, now)
            ends = now + span if span is not None else None
            made = new_key(earlier.principal, dice=secrets.token_bytes, expires_at=ends, label=earlier.label)
            await admin.keys.add(made.stored, at=now)
            typer.echo(f"key {made.stored.id} is to take the place of {key}, {_until(ends)}", err=True)
            typer.echo(f"once it is in use: drillyard keys revoke --tenant {tenant} {key}", err=True)
            return made.written

    typer.echo(asyncio.run(run()))


@app.command(epilog="Example:\n\n  drillyard keys revoke --tenant acme 3f9c0a51be77")
def revoke(
    key: KeyArgument,
    *,
    tenant: Tenant,
    url: DatabaseUrl = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Take a key out of use; servers notice within their DRILLYARD_KEY_CACHE_S."""
    _check_slug(tenant)

    async def run() -> bool:
        async with _administration(database_url(url, data=data)) as admin:
            return await admin.keys.revoke(await _known(admin, tenant), KeyId(key), at=admin.clock.now())

    if not asyncio.run(run()):
        raise CommandFailed("the tenant has no living key of this id", advice="see `drillyard keys list`")
    typer.echo(f"key {key} is revoked")


@asynccontextmanager
async def _administration(database: str) -> "AsyncIterator[Administration]":
    from gateway.wiring.authoring import administration  # noqa: PLC0415 - it imports every adapter, which --help need not wait for

    try:
        async with administration(database) as admin:
            yield admin
    except KeysUnavailable as error:
        raise CommandFailed(
            str(error), advice="is the database running, and migrated by `drillyard db migrate`?"
        ) from error
    except AccountRefused as error:
        raise CommandFailed(str(error)) from error
    except TooManyKeys as error:
        raise CommandFailed(str(error), advice="see `drillyard keys list`") from error


async def _known(admin: "Administration", tenant: str) -> UUID:
    found = await admin.accounts.tenant_id(tenant)
    if found is None:
        raise CommandFailed(f"there is no tenant {tenant}", advice="its first key makes it")
    return found


async def _living(admin: "Administration", tenant: UUID, wanted: str, now: datetime) -> StoredKey:
    keys = [key for key, _ in await admin.keys.of_tenant(tenant) if key.id == wanted]
    if not keys or keys[0].state(now) is not KeyState.LIVE:
        raise CommandFailed("the tenant has no living key of this id", advice="see `drillyard keys list`")
    return keys[0]


def _scopes(written: list[str] | None, role: Role) -> frozenset[Action] | None:
    try:
        return asked_scopes(written or None, role)
    except FieldInvalid as error:
        raise CommandFailed(error.detail) from error


def _cells(key: StoredKey, account: "Account", now: datetime) -> tuple[str, ...]:
    return (
        key.id,
        account.role.value,
        account.name,
        key.label or "",
        ", ".join(written_scopes(key.principal.scopes) or ["all"]),
        key.state(now).value,
        _until(key.expires_at),
        f"{key.last_used_at:%Y-%m-%d %H:%M} UTC" if key.last_used_at is not None else "never",
    )


def _check_line(what: str, text: str) -> None:
    if not (text.strip() and text.isprintable() and len(text) <= MAX_NAME):
        raise CommandFailed(
            f"the {what} cannot be used", advice=f"give one printable line of at most {MAX_NAME} characters"
        )


def _check_slug(tenant: str) -> None:
    if SLUG.fullmatch(tenant) is None:
        raise CommandFailed(
            "the tenant cannot be named so", advice="use small letters, digits and hyphens, at most 63, such as acme"
        )


def _until(moment: datetime | None) -> str:
    return f"until {moment:%Y-%m-%d %H:%M} UTC" if moment is not None else "never expires"
