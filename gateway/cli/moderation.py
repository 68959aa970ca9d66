"""`drillyard moderation`: texts and lists tried out, settings, and who changed what, beside the lists themselves."""

from math import isfinite, nan
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey
from gateway.cli.drill_view import console
from gateway.cli.list_import import read_list
from gateway.cli.moderation_call import CODES, DirectionOption, ScenarioOption, direction_of, must_be_one_of, run
from gateway.cli.moderation_client import ModerationClient
from gateway.cli.moderation_tables import audit_table, check_lines, dry_run_lines, settings_table
from gateway.cli.phrase_lists import app
from gateway.cli.printable import printable

__all__ = ["app"]

BLOCKED = 3
"""The exit status of a check whose text is blocked."""
_INHERIT = "inherit"

Score = Annotated[str | None, typer.Option(metavar="SCORE", help="From 0 to 1, above it never; or `inherit`.")]


@app.command(
    epilog="Examples:\n\n"
    '  drillyard moderation check "保本高收益，稳赚不赔"\n\n'
    '  drillyard moderation check --direction output "guaranteed returns"\n\n'
    "It leaves with 0 where the text goes on, with 3 where it is blocked, with 1 when the server refuses or cannot be "
    "reached, and with 2 for wrong options."
)
def check(  # noqa: PLR0913  each is an option of the command
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is looked at; - reads it from standard input.")],
    *,
    direction: Annotated[
        str, typer.Option(metavar="input|output", help="Who says it: people, or the model.")
    ] = "input",
    knowledge: Annotated[bool, typer.Option("--knowledge", help="As a piece of a document.")] = False,
    scenario: ScenarioOption = None,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Ask what a text would meet now; nothing is kept of it."""
    must_be_one_of(direction, ("input", "output"), "--direction")
    body: dict[str, object] = {
        "text": typer.get_text_stream("stdin", errors="surrogateescape").read() if text == "-" else text,
        "direction": direction,
        "surface": "knowledge" if knowledge else "user",
        "scenario_id": scenario,
    }

    async def work(client: ModerationClient) -> None:
        found = await client.check(body)
        for line in check_lines(found):
            typer.echo(printable(line))
        if found.verdict == "block":
            raise typer.Exit(BLOCKED)

    run(work, base_url, key, data)


@app.command(
    "dry-run",
    epilog="Examples:\n\n"
    "  drillyard moderation dry-run compliance --recent 200\n\n"
    '  drillyard moderation dry-run words.csv --text "guaranteed returns" --text "a fair price"\n\n'
    "Nothing is kept, and nothing comes into force." + CODES,
)
def dry_run(  # noqa: PLR0913  each is an option of the command
    what: Annotated[str, typer.Argument(metavar="LIST|FILE", help="A list's name or id, or a file as for `import`.")],
    *,
    version: Annotated[int | None, typer.Option(min=1, help="Of a list; by default the latest.")] = None,
    text: Annotated[list[str] | None, typer.Option(help="A text to try it on; may be given again.")] = None,
    recent: Annotated[int, typer.Option(min=0, max=200, metavar="N", help="Try it on the latest N turns.")] = 0,
    scenario: ScenarioOption = None,
    direction: DirectionOption = None,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Show what a list would do that is not in force, beside what is in force now."""
    if not (text or recent):
        raise typer.BadParameter("give a --text, or --recent")
    said = read_list(Path(what)).body() if Path(what).suffix and Path(what).is_file() else None
    body: dict[str, object] = {"texts": text or [], "recent_turns": recent, "direction": direction_of(direction)}

    async def work(client: ModerationClient) -> None:
        if said is None:
            found = await client.known(what)
            tried = await client.dry_run({**body, "list_id": found.id, "version": version})
        else:
            tried = await client.dry_run({**body, **said, "scenario_id": scenario})
        for line in dry_run_lines(tried, text or []):
            typer.echo(printable(line))

    run(work, base_url, key, data)


@app.command(
    epilog="Examples:\n\n"
    "  drillyard moderation settings\n\n"
    "  drillyard moderation settings --user-block 0.8 --mask '[...]'\n\n"
    "  drillyard moderation settings --user-block inherit\n\n"
    "What is not named stays as it is. Scores tell how likely a text is an injection." + CODES
)
def settings(  # noqa: PLR0913  each is an option of the command
    *,
    user_flag: Score = None,
    user_block: Score = None,
    knowledge_flag: Score = None,
    knowledge_block: Score = None,
    mask: Annotated[str | None, typer.Option(help="What stands in place of a masked phrase, or `inherit`.")] = None,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Show what is set beside lists and what holds, or set it."""
    scores = {
        ("user", "flag"): user_flag,
        ("user", "block"): user_block,
        ("knowledge", "flag"): knowledge_flag,
        ("knowledge", "block"): knowledge_block,
    }
    wanted = {name: _score(text) for name, text in scores.items() if text is not None}

    async def work(client: ModerationClient) -> None:
        now = await client.settings()
        if wanted or mask is not None:
            body: dict[str, dict[str, float | None]] = {
                "user": now.user.model_dump(),
                "knowledge": now.knowledge.model_dump(),
            }
            for (group, name), score in wanted.items():
                body[group][name] = score
            shown = now.mask if mask is None else None if mask == _INHERIT else mask
            now = await client.set({**body, "mask": shown})
        console().print(settings_table(now), markup=False)

    run(work, base_url, key, data)


@app.command(epilog="Example:\n\n  drillyard moderation audit --most 200" + CODES)
def audit(
    *,
    most: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="How many at most.")] = 50,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Show who changed lists and settings and decided on turns, newest first."""

    async def work(client: ModerationClient) -> None:
        console().print(audit_table(await client.audit(most)), markup=False)

    run(work, base_url, key, data)


def _score(text: str) -> float | None:
    if text == _INHERIT:
        return None
    try:
        score = float(text)
    except ValueError:
        score = nan
    if not isfinite(score):
        raise typer.BadParameter(f"{text!r} is neither a number nor {_INHERIT}")
    return score
