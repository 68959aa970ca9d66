"""A phrase list from a file into the tenant, told step by step."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from gateway.cli.api_faults import ApiRefused
from gateway.cli.failure import CommandFailed
from gateway.cli.moderation_client import ModerationClient
from gateway.cli.moderation_wire import PhraseListView
from gateway.cli.phrase_file import PhraseFile, PhraseFileFaulty, read_file
from gateway.cli.printable import printable

_MOST_FAULTS = 20


def read_list(file: Path) -> PhraseFile:
    """Raises `CommandFailed`, after the faults were told."""
    try:
        found = read_file(file)
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror or type(error).__name__}") from error
    except PhraseFileFaulty as error:
        raise _refused(file, error.faults) from None
    if not (found.phrases or found.allowed):
        raise CommandFailed(f"{file} holds no phrase")
    return found


async def import_list(
    client: ModerationClient, file: Path, said: PhraseFile, asked: Mapping[str, object], *, live: bool
) -> None:
    """Make the list or its next version, and put it in force where that is asked."""
    typer.echo(f"{printable(file.name)}: {_count(said)}", err=True)
    there = await client.find(str(asked["name"]))
    try:
        if there is None:
            kept = await client.create({**asked, **said.body(), "live": live})
            _tell(kept, "version 1 is written")
            return
        _must_fit(there, asked)
        version = (await client.add_version(there, said.body())).version
    except ApiRefused as error:
        if not error.faults:
            raise
        raise _refused(file, [(said.line_of(field), f"{field}: {detail}") for field, detail in error.faults]) from None
    became = "is written" if version > there.latest_version else "says this already; nothing is written"
    if live and there.live_version != version:
        there = await client.go_live(there, version)
    _tell(there, f"version {version} {became}")


def _must_fit(there: PhraseListView, asked: Mapping[str, object]) -> None:
    if there.archived_at is not None:
        raise CommandFailed(f"the list {there.name!r} is archived", advice="choose another --name")
    if (there.scenario_id, there.direction) != (asked["scenario_id"], asked["direction"]):
        scope = f"{there.direction} of {there.scenario_id or 'every scenario'}"
        raise CommandFailed(f"the list {there.name!r} is for {scope}, for good", advice="choose another --name")


def _tell(kept: PhraseListView, became: str) -> None:
    force = "none is in force" if kept.live_version is None else f"version {kept.live_version} is in force"
    typer.echo(f"{printable(kept.name)}: {became}; {force}")


def _count(said: PhraseFile) -> str:
    allowed = f", {len(said.allowed)} allowed" if said.allowed else ""
    return f"{len(said.phrases)} phrases{allowed}"


def _refused(file: Path, faults: Sequence[tuple[int, str]]) -> CommandFailed:
    for line, fault in faults[:_MOST_FAULTS]:
        where = f":{line}" if line else ""
        typer.echo(printable(f"{file}{where}: {fault}"), err=True)
    if len(faults) > _MOST_FAULTS:
        typer.echo(f"... and {len(faults) - _MOST_FAULTS} more", err=True)
    faulty = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    return CommandFailed(f"{file.name} was not taken: {faulty}")
