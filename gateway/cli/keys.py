"""`drillyard keys`: who may call the API."""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer
from rich.table import Table

from gateway.cli.connection import DEFAULT_DATA, DataFolder
from gateway.cli.database import DatabaseUrl, database_url
from gateway.cli.drill_view import console
from gateway.cli.failure import CommandFailed
from gateway.cli.key_lifetime import lifetime
from gateway.domain.access import KeyId, Role, new_key
from gateway.errors import AccountRefused, KeysUnavailable

if TYPE_CHECKING:
    from gateway.wiring.authoring import Administration

app = typer.Typer(
    help="Create, list and revoke API keys.", add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False
)

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
MAX_NAME = 100

Tenant = Annotated[str, typer.Option("--tenant", metavar="SLUG", help="The company or department, such as acme.")]


@app.callback()
def _group() -> None:
    """Create, list and revoke API keys."""


@app.command(
    epilog="Example:\n\n  drillyard keys create --tenant acme --role trainee --name li.wei --expires 90d\n\n"
    "The key alone goes to standard output, once; what is stored cannot bring it back."
)
def create(
    *,
    tenant: Tenant,
    role: Annotated[Role, typer.Option(help="What the key may do.")],
    name: Annotated[str, typer.Option(help="Whose key it is; unique in the tenant.")],
    expires: Annotated[str | None, typer.Option(metavar="SPAN", help="45m, 12h, 90d or 8w; by default never.")] = None,
    url: DatabaseUrl = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Make a key, with its account and tenant where they are new, and print it once."""
    _check_slug(tenant)
    if not (name.strip() and name.isprintable() and len(name) <= MAX_NAME):
        raise CommandFailed(
            "the name cannot be used", advice=f"give one printable line of at most {MAX_NAME} characters"
        )
    span = lifetime(expires) if expires is not None else None

    async def create_with(admin: "Administration") -> str:
        now = admin.clock.now()
        ends = now + span if span is not None else None
        is_new = await admin.accounts.tenant_id(tenant) is None
        account = await admin.accounts.account(
            await admin.accounts.tenant(tenant, name=tenant, at=now), name, role, at=now
        )
        made = new_key(account.principal, dice=secrets.token_bytes, expires_at=ends)
        await admin.keys.add(made.stored, at=now)
        whose = f"{role.value} {name}, tenant {tenant}{' (new)' if is_new else ''}"
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
            table = Table()
            for heading in ("key", "role", "name", "state", "expires"):
                table.add_column(heading, overflow="fold")
            for key, account in await admin.keys.of_tenant(await _known(admin, tenant)):
                table.add_row(key.id, account.role.value, account.name, key.state(now).value, _until(key.expires_at))
            return table

    console().print(asyncio.run(run()), markup=False)


@app.command(epilog="Example:\n\n  drillyard keys revoke --tenant acme 3f9c0a51be77")
def revoke(
    key: Annotated[str, typer.Argument(metavar="KEY_ID", help="The part between dy_ and the next _.")],
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


async def _known(admin: "Administration", tenant: str) -> UUID:
    found = await admin.accounts.tenant_id(tenant)
    if found is None:
        raise CommandFailed(f"there is no tenant {tenant}", advice="its first key makes it")
    return found


def _check_slug(tenant: str) -> None:
    if SLUG.fullmatch(tenant) is None:
        raise CommandFailed(
            "the tenant cannot be named so", advice="use small letters, digits and hyphens, at most 63, such as acme"
        )


def _until(moment: datetime | None) -> str:
    return f"until {moment:%Y-%m-%d %H:%M} UTC" if moment is not None else "never expires"
