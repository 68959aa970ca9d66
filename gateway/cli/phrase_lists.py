"""`drillyard moderation`: phrase lists, from files and back into them."""

import json
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey
from gateway.cli.drill_view import console
from gateway.cli.list_import import import_list, read_list
from gateway.cli.moderation_call import CODES, DirectionOption, ListName, ScenarioOption, direction_of, run
from gateway.cli.moderation_client import ModerationClient
from gateway.cli.moderation_tables import lists_table, versions_table
from gateway.cli.phrase_file import csv_of
from gateway.cli.printable import printable

app = typer.Typer(
    help="Keep phrase lists, try them out, and see who changed what.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _group() -> None:
    """Keep phrase lists, try them out, and see who changed what. It takes an instructor's or an operator's key."""


@app.command(
    epilog="Examples:\n\n  drillyard moderation lists\n\n  drillyard moderation lists compliance" + CODES,
)
def lists(
    name: Annotated[str | None, typer.Argument(metavar="[LIST]", help="Show its versions, not the lists.")] = None,
    *,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """List the phrase lists, or the versions of one, newest first."""

    async def work(client: ModerationClient) -> None:
        table = lists_table(await client.lists()) if name is None else versions_table(await client.with_versions(name))
        console().print(table, markup=False)

    run(work, base_url, key, data)


@app.command(
    "import",
    epilog="Examples:\n\n"
    "  drillyard moderation import deploy/moderation/zh.csv --name compliance --live\n\n"
    "  drillyard moderation import words.txt --name banned --direction output\n\n"
    "A .csv begins with the columns text, and any of id, category, severity (1 to 4), action (flag, mask, block, or "
    "allow for a phrase that banned ones may stand in) and spelling (plain, leet, pinyin). A .txt has a phrase a line; "
    "# begins a comment. A .json is as the API takes it. The first file of a name makes the list, a later one its next "
    "version; what the latest version says already makes none." + CODES,
)
def import_file(  # noqa: PLR0913  each is an option of the command
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv, .txt or .json in UTF-8.")],
    *,
    name: Annotated[str, typer.Option(help="The list's name; unique in the tenant.")],
    scenario: ScenarioOption = None,
    direction: DirectionOption = None,
    live: Annotated[bool, typer.Option("--live", help="Put it in force at once.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Make a list of a file, or its next version."""
    said = read_list(file)
    asked = {"name": name, "scenario_id": scenario, "direction": direction_of(direction)}

    async def work(client: ModerationClient) -> None:
        await import_list(client, file, said, asked, live=live)

    run(work, base_url, key, data)


@app.command(
    epilog="Examples:\n\n"
    "  drillyard moderation export compliance > compliance.csv\n\n"
    "  drillyard moderation export compliance --version 2 --json" + CODES
)
def export(
    name: ListName,
    *,
    version: Annotated[int | None, typer.Option(min=1, help="By default the latest.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of CSV.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Write what a list says to standard output, so that `import` reads it as the same."""

    async def work(client: ModerationClient) -> None:
        found = await client.content(name, version)
        phrases = [each.model_dump() for each in found.phrases]
        if as_json:
            typer.echo(json.dumps({"phrases": phrases, "allowed": found.allowed}, ensure_ascii=False, indent=1))
        else:
            typer.echo(csv_of(phrases, found.allowed), nl=False)

    run(work, base_url, key, data)


@app.command(
    epilog="Examples:\n\n"
    "  drillyard moderation live compliance\n\n"
    "  drillyard moderation live compliance --version 2\n\n"
    "  drillyard moderation live compliance --off\n\n"
    "Turns that begin from now on meet the new rules; nothing is restarted." + CODES
)
def live(
    name: ListName,
    *,
    version: Annotated[int | None, typer.Option(min=1, help="By default the latest.")] = None,
    off: Annotated[bool, typer.Option("--off", help="Take the list out of force.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Put a version of a list in force, or take the list out of it."""
    if off and version is not None:
        raise typer.BadParameter("give a --version, or --off")

    async def work(client: ModerationClient) -> None:
        found = await client.known(name)
        now = await client.go_live(found, None if off else version or found.latest_version)
        told = "is out of force" if now.live_version is None else f"is in force in version {now.live_version}"
        typer.echo(f"{printable(now.name)} {told}")

    run(work, base_url, key, data)


@app.command(
    epilog="Example:\n\n  drillyard moderation archive compliance\n\n"
    "Its versions stay readable, and its name stays taken." + CODES
)
def archive(name: ListName, *, base_url: BaseUrl = None, key: OneKey = None, data: DataFolder = DEFAULT_DATA) -> None:
    """Take a list out of force for good."""

    async def work(client: ModerationClient) -> None:
        found = await client.known(name)
        await client.archive(found)
        typer.echo(f"{printable(found.name)} is archived")

    run(work, base_url, key, data)
