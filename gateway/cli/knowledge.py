"""`drillyard knowledge`: what instructors do with knowledge bases."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gateway.cli.api_client import Api
from gateway.cli.api_faults import ApiRefused
from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey, StaffConnection, instructor_connection
from gateway.cli.drill_view import console
from gateway.cli.failure import CommandFailed
from gateway.cli.folding_table import folding_table
from gateway.cli.knowledge_client import KnowledgeClient
from gateway.cli.knowledge_wire import DocumentView, KnowledgeBaseView
from gateway.cli.printable import printable

app = typer.Typer(
    help="Keep the knowledge that tutors and answers draw on.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

TYPES = {
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
READ_TIMEOUT_S = 600.0
"""Reading and cutting a large document takes a while, and others may be before it."""

BaseName = Annotated[str, typer.Argument(metavar="BASE", help="The base's name or id.")]


@app.callback()
def _group() -> None:
    """Keep the knowledge that tutors and answers draw on. It takes an instructor's key."""


@app.command(
    epilog='Example:\n\n  drillyard knowledge create products --guidance "Quote prices exactly; if unsure, say so."\n\n'
    "The base's id goes to standard output: a scenario names it as knowledge_base_id. The same base again is the first."
)
def create(
    name: Annotated[str, typer.Argument(help="Unique in the tenant.")],
    *,
    guidance: Annotated[
        str, typer.Option(metavar="TEXT", help="How the tutor is to use it; part of its instructions.")
    ] = "",
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Make a knowledge base."""

    async def run(told: StaffConnection) -> None:
        async with _knowledge(told) as client:
            typer.echo((await client.create(name, guidance)).id)

    asyncio.run(run(instructor_connection(base_url=base_url, key=key, data=data)))


@app.command(
    epilog="Examples:\n\n"
    "  drillyard knowledge add products handbook.pdf prices.md\n\n"
    "  drillyard knowledge add products docs/*.docx && echo all of them are in\n\n"
    "A document of the same name is replaced, and the next question finds the new one. Text, Markdown, HTML, PDF (with "
    "a text layer) and DOCX are read. It leaves with 1 if a file was not taken; the others are in all the same."
)
def add(
    base: BaseName,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Each becomes a document named like the file.")
    ],
    *,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Put documents into a knowledge base."""

    async def run(told: StaffConnection) -> None:
        async with _knowledge(told) as client:
            await _add_all(client, await client.base(base), files)

    asyncio.run(run(instructor_connection(base_url=base_url, key=key, data=data)))


@app.command("list", epilog="Examples:\n\n  drillyard knowledge list\n\n  drillyard knowledge list products")
def list_knowledge(
    base: Annotated[str | None, typer.Argument(metavar="[BASE]", help="List its documents, not the bases.")] = None,
    *,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """List the knowledge bases, or the documents of one, newest first."""

    async def run(told: StaffConnection) -> None:
        async with _knowledge(told) as client:
            if base is None:
                table = bases_table(await client.bases())
            else:
                table = documents_table(await client.documents(await client.base(base)))
            console().print(table, markup=False)

    asyncio.run(run(instructor_connection(base_url=base_url, key=key, data=data)))


@app.command(
    epilog="Examples:\n\n"
    "  drillyard knowledge remove products prices.md\n\n"
    "  drillyard knowledge remove products --whole\n\n"
    "Scenarios that name a base which is gone go on without background."
)
def remove(
    base: BaseName,
    documents: Annotated[
        list[str] | None, typer.Argument(metavar="[DOCUMENT]...", help="Names or ids of documents.")
    ] = None,
    *,
    whole: Annotated[bool, typer.Option("--whole", help="Remove the base with everything in it.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Remove documents from a knowledge base, or the whole base."""
    if bool(documents) == whole:
        raise CommandFailed(
            "name documents to remove, or give --whole", advice="see `drillyard knowledge remove --help`"
        )

    async def run(told: StaffConnection) -> None:
        async with _knowledge(told) as client:
            found = await client.base(base)
            if whole:
                await client.remove_base(found)
                typer.echo(f"{printable(found.name)} is removed, with {_documents(found.document_count)}")
                return
            for gone in await client.remove_documents(found, documents or ()):
                typer.echo(f"{printable(gone.name)} is removed")

    asyncio.run(run(instructor_connection(base_url=base_url, key=key, data=data)))


def bases_table(bases: list[KnowledgeBaseView]) -> Table:
    table = folding_table("base", "id", "documents", "chunks", "version")
    for base in bases:
        figures = (base.document_count, base.chunk_count, base.version)
        table.add_row(printable(base.name), base.id, *(str(figure) for figure in figures))
    return table


def documents_table(documents: list[DocumentView]) -> Table:
    table = folding_table("document", "id", "type", "bytes", "tokens", "chunks")
    short = {media_type: suffix.lstrip(".") for suffix, media_type in reversed(TYPES.items())}
    for document in documents:
        table.add_row(
            printable(document.name),
            document.id,
            short.get(document.media_type, document.media_type),
            *(str(figure) for figure in (document.size_bytes, document.tokens, document.chunk_count)),
        )
    return table


async def _add_all(client: KnowledgeClient, base: KnowledgeBaseView, files: list[Path]) -> None:
    """Each file by itself: what one of them cannot do is told at the end, and the others are in."""
    names = [file.name for file in files]
    if len(set(names)) < len(names):
        raise CommandFailed("two of the files have the same name", advice="each would take the other's place")
    there = {document.name: document.id for document in await client.documents(base)}
    failed = 0
    for number, file in enumerate(files, start=1):
        before = f"[{number}/{len(files)}] {printable(file.name)}: "
        try:
            put = await client.put(base, file.name, _type(file), await asyncio.to_thread(_bytes, file))
        except (_NotTaken, ApiRefused) as error:
            typer.echo(f"{before}not taken: {printable(str(error))}", err=True)
            failed += 1
        else:
            typer.echo(f"{before}{_became(put, there.get(put.name))}, {put.chunk_count} chunks, {put.tokens} tokens")
    if failed:
        raise CommandFailed(f"{failed} of {_documents(len(files))} {'was' if failed == 1 else 'were'} not taken")


class _NotTaken(Exception):
    """A file that cannot be sent."""


def _type(file: Path) -> str:
    found = TYPES.get(file.suffix.lower())
    if found is None:
        raise _NotTaken(f"its name ends on none of {', '.join(TYPES)}")
    return found


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise _NotTaken(error.strerror or type(error).__name__) from error


def _became(document: DocumentView, earlier: str | None) -> str:
    if earlier is None:
        return "added"
    return "unchanged" if earlier == document.id else "replaced"


def _documents(count: int) -> str:
    return f"{count} document" if count == 1 else f"{count} documents"


@asynccontextmanager
async def _knowledge(told: StaffConnection) -> AsyncIterator[KnowledgeClient]:
    async with Api(base_url=told.base_url, read_timeout_s=READ_TIMEOUT_S) as api:
        yield KnowledgeClient(api.as_holder_of(told.key))
