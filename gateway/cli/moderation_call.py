"""What the commands of moderation share: their options, and a client for the length of one command."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.api_client import Api
from gateway.cli.connection import instructor_connection
from gateway.cli.moderation_client import ModerationClient

READ_TIMEOUT_S = 600.0
"""Putting tens of thousands of phrases in force takes a while."""
CODES = "\n\nIt leaves with 0, with 1 when the server refuses or cannot be reached, and with 2 for wrong options."

ListName = Annotated[str, typer.Argument(metavar="LIST", help="The list's name or id.")]
ScenarioOption = Annotated[str | None, typer.Option("--scenario", metavar="ID", help="One scenario; by default all.")]
DirectionOption = Annotated[
    str | None, typer.Option(metavar="input|output|both", help="What is looked at: what people say, or the model.")
]

Work = Callable[[ModerationClient], Awaitable[None]]


def must_be_one_of(given: str | None, known: tuple[str | None, ...], hint: str) -> None:
    if given not in known:
        raise typer.BadParameter(f"it is one of {', '.join(filter(None, known))}", param_hint=hint)


def direction_of(text: str | None) -> str:
    must_be_one_of(text, (None, "both", "input", "output"), "--direction")
    return text or "both"


def run(work: Work, base_url: str | None, key: str | None, data: Path) -> None:
    async def run() -> None:
        async with _client(base_url, key, data) as client:
            await work(client)

    asyncio.run(run())


@asynccontextmanager
async def _client(base_url: str | None, key: str | None, data: Path) -> AsyncIterator[ModerationClient]:
    told = instructor_connection(base_url=base_url, key=key, data=data)
    async with Api(base_url=told.base_url, read_timeout_s=READ_TIMEOUT_S) as api:
        yield ModerationClient(api.as_holder_of(told.key))
