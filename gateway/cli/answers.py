"""`drillyard answers`: many questions to a knowledge base, answered in the background."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.answers_client import AnswersClient
from gateway.cli.answers_wire import JobView, ResultView
from gateway.cli.api_client import Api, ApiClient
from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey, StaffConnection, instructor_connection
from gateway.cli.failure import INTERRUPTED, CommandFailed
from gateway.cli.knowledge_client import KnowledgeClient

LOOK_EVERY_S = 0.5
STANDARD_INPUT = Path("-")
EXAMPLES = (
    "Examples:\n\n"
    "  drillyard answers products --questions faq.txt --out answers.jsonl\n\n"
    "  drillyard answers products --questions faq.txt --document handbook.pdf\n\n"
    "  sort -u faq.txt | drillyard answers products --questions -\n\n"
    "  drillyard answers --job 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11 --out answers.jsonl\n\n"
    "One question a line; empty lines are left out. Results are JSON Lines in the order of the questions, each with its"
    " answer and citations or its error. The job goes on when this command is stopped; --job looks at it again. It "
    "leaves with 0 only if every question was answered."
)


def answers(  # noqa: PLR0913  typer reads the options from here
    base: Annotated[str | None, typer.Argument(metavar="[BASE]", help="The base's name or id; not with --job.")] = None,
    *,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", metavar="FILE", help="One question a line, in UTF-8; - for standard input."),
    ] = None,
    document: Annotated[
        str | None, typer.Option(metavar="DOCUMENT", help="Answer from this one document of the base, read as a whole.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where results go; by default here.")] = None,
    job: Annotated[str | None, typer.Option(metavar="ID", help="A job that was begun before.")] = None,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Put many questions to a knowledge base and wait for the answers."""
    if (job is None) != (base is not None and questions is not None):
        raise CommandFailed(
            "give a base and --questions, or --job alone", advice="see `drillyard answers --help` for examples"
        )
    asked = [] if questions is None else _lines(questions)
    if out is not None and not out.parent.is_dir():
        raise CommandFailed(f"{out} cannot be written: there is no folder {out.parent}")
    told = instructor_connection(base_url=base_url, key=key, data=data)
    try:
        ended, results = asyncio.run(_play(told, job, (base or "", asked, document)))
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    _write(results, out)
    if ended.done < ended.total:
        why = "" if ended.error is None else f" ({ended.error.message})"
        raise CommandFailed(f"{ended.total - ended.done} of {ended.total} questions were not answered{why}")


async def _play(
    told: StaffConnection, job: str | None, asked: tuple[str, Sequence[str], str | None]
) -> tuple[JobView, list[ResultView]]:
    async with Api(base_url=told.base_url) as api:
        holder = api.as_holder_of(told.key)
        client = AnswersClient(holder)
        begun = await client.job(job) if job is not None else await _ask(holder, client, *asked)
        typer.echo(f"job {begun.id}", err=True)
        ended = await _watched(client, begun)
        return ended, await client.results(ended.id)


async def _ask(
    holder: ApiClient, client: AnswersClient, named: str, questions: Sequence[str], document: str | None
) -> JobView:
    knowledge = KnowledgeClient(holder)
    base = await knowledge.base(named)
    if document is None:
        return await client.ask(base.id, questions, None)
    return await client.ask(base.id, questions, (await knowledge.document(base, document)).id)


async def _watched(client: AnswersClient, job: JobView) -> JobView:
    """Say whatever has changed, until the job is over."""
    said = ""
    while True:
        if (line := progress_line(job)) != said:
            typer.echo(line, err=True)
            said = line
        if job.is_over:
            return job
        await asyncio.sleep(LOOK_EVERY_S)
        job = await client.job(job.id)


def progress_line(job: JobView) -> str:
    layers = [
        f"layer {layer.layer}: {layer.completed} of {layer.total} summaries"
        for layer in job.layers
        if layer.completed < layer.total
    ]
    ends = [f"{job.done} of {job.total} answered"]
    ends += [f"{count} {name}" for count, name in ((job.failed, "failed"), (job.cancelled, "cancelled")) if count]
    return f"{job.state}: {', '.join([*layers, *ends])}"


def _lines(path: Path) -> list[str]:
    named = "standard input" if path == STANDARD_INPUT else str(path)
    try:
        # Bytes of either, so that the terminal's encoding has no say.
        text = (sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"the questions in {named} cannot be read: {error}") from error
    found = [line.strip() for line in text.splitlines() if line.strip()]
    if not found:
        raise CommandFailed(f"there is no question in {named}", advice="write one a line")
    return found


def _write(results: Sequence[ResultView], out: Path | None) -> None:
    text = "".join(json.dumps(result.line(), ensure_ascii=False) + "\n" for result in results)
    if out is None:
        sys.stdout.write(text)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(
            f"{out} cannot be written: {error.strerror}", advice="look at the job with --job"
        ) from error
