"""`drillyard limits`: how much the accounts of a tenant may take."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from gateway.cli.api_client import Api, ApiClient, path_part
from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey, operator_connection
from gateway.cli.drill_view import console
from gateway.cli.folding_table import folding_table
from gateway.cli.limits_wire import LimitsView

app = typer.Typer(
    help="See and set how much accounts may take.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_INHERIT, _UNLIMITED = "inherit", "unlimited"
_CODES = "\n\nIt leaves with 0, with 1 when the server refuses or cannot be reached, and with 2 for wrong options."

Account = Annotated[
    str | None,
    typer.Option(metavar="ID", help="The account, as `GET /v1/keys` shows it; by default the whole tenant."),
]
Amount = Annotated[str | None, typer.Option(metavar="N", help="A number, `unlimited`, or `inherit`.")]


@app.callback()
def _group() -> None:
    """See and set the limits of the tenant that the operator's key belongs to, and of its accounts."""


@app.command(
    epilog="Examples:\n\n"
    "  drillyard limits show\n\n"
    "  drillyard limits show --account 5f0c0f6e-6a0e-4bd1-9d2a-2f0f3a1b7c11" + _CODES
)
def show(
    *, account: Account = None, base_url: BaseUrl = None, key: OneKey = None, data: DataFolder = DEFAULT_DATA
) -> None:
    """Show what holds now, and who has set it."""

    async def run() -> None:
        async with _operator(base_url, key, data) as client:
            _print(await client.read(_path(account), LimitsView))

    asyncio.run(run())


@app.command(
    "set",
    epilog="Examples:\n\n"
    "  drillyard limits set --requests-per-minute 300 --request-burst 60\n\n"
    "  drillyard limits set --account 5f0c0f6e-6a0e-4bd1-9d2a-2f0f3a1b7c11 --turns-in-flight 2\n\n"
    "  drillyard limits set --output-tokens-per-minute unlimited --sessions inherit\n\n"
    "What is not named stays as it is. It takes effect within seconds; nothing is restarted." + _CODES,
)
def set_limits(  # noqa: PLR0913  each is an option of the command
    *,
    account: Account = None,
    requests_per_minute: Amount = None,
    request_burst: Amount = None,
    input_tokens_per_minute: Amount = None,
    output_tokens_per_minute: Amount = None,
    turns_in_flight: Amount = None,
    sessions: Amount = None,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Set limits of the tenant's accounts, or of one of them."""
    asked = {
        "requests_per_minute": requests_per_minute,
        "request_burst": request_burst,
        "input_tokens_per_minute": input_tokens_per_minute,
        "output_tokens_per_minute": output_tokens_per_minute,
        "turns_in_flight": turns_in_flight,
        "sessions": sessions,
    }
    wanted = {name: _amount(name, text) for name, text in asked.items() if text is not None}
    if not wanted:
        raise typer.BadParameter("name at least one limit")
    if account is not None and "sessions" in wanted:
        raise typer.BadParameter("sessions are limited for the whole tenant, not for one account")

    async def run() -> None:
        async with _operator(base_url, key, data) as client:
            now = await client.read(_path(account), LimitsView)
            own = now.set_by("tenant" if account is None else "account")
            _print(await client.put(_path(account), LimitsView, {**own, **wanted}))

    asyncio.run(run())


@app.command(epilog="Example:\n\n  drillyard limits clear --account 5f0c0f6e-6a0e-4bd1-9d2a-2f0f3a1b7c11" + _CODES)
def clear(
    *, account: Account = None, base_url: BaseUrl = None, key: OneKey = None, data: DataFolder = DEFAULT_DATA
) -> None:
    """Forget all that was set for the tenant, or for one account; it has what it inherits then."""

    async def run() -> None:
        async with _operator(base_url, key, data) as client:
            _print(await client.delete(_path(account), LimitsView))

    asyncio.run(run())


def _amount(name: str, text: str) -> int | str | None:
    """As the API takes it."""
    if text == _INHERIT:
        return None
    if text == _UNLIMITED:
        return text
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise typer.BadParameter(
            f"{text!r} is neither a number from 1 on nor {_UNLIMITED} nor {_INHERIT}", param_hint=name
        )
    return int(text)


def _path(account: str | None) -> str:
    return "/v1/limits" if account is None else f"/v1/limits/accounts/{path_part(account)}"


def _print(found: LimitsView) -> None:
    table = folding_table("limit", "now", "set by")
    for name, one in found.limits.items():
        table.add_row(name.replace("_", " "), str(one.limit), one.source)
    console().print(table, markup=False)


@asynccontextmanager
async def _operator(base_url: str | None, key: str | None, data: DataFolder) -> AsyncIterator[ApiClient]:
    told = operator_connection(base_url=base_url, key=key, data=data)
    async with Api(base_url=told.base_url) as api:
        yield api.as_holder_of(told.key)
