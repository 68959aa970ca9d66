"""`drillyard moderation reviews`, `review`, `decide` and `outline`: what staff look at after turns were played."""

from typing import Annotated

import typer

from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey
from gateway.cli.drill_view import console
from gateway.cli.moderation import app
from gateway.cli.moderation_call import CODES, must_be_one_of, run
from gateway.cli.moderation_client import ModerationClient
from gateway.cli.printable import printable
from gateway.cli.review_tables import decision_line, outline_line, outline_table, review_lines, reviews_table

__all__ = ["app"]

_DECISIONS = {"confirmed": "confirmed", "false-alarm": "false_alarm"}

Session = Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.")]
Turn = Annotated[int, typer.Argument(metavar="TURN", min=1, help="The turn's number.")]
Choice = Annotated[str, typer.Argument(metavar="confirmed|false-alarm", help="What it was.")]


@app.command(
    epilog="Examples:\n\n"
    "  drillyard moderation reviews\n\n"
    "  drillyard moderation reviews --state decided --source injection --limit 100" + CODES
)
def reviews(  # noqa: PLR0913  each is an option of the command
    *,
    state: Annotated[str, typer.Option(metavar="open|decided|all", help="Which ones.")] = "open",
    session: Annotated[str | None, typer.Option(metavar="ID", help="Of one session.")] = None,
    source: Annotated[str | None, typer.Option(metavar="phrase|injection|guard|outline", help="Found by it.")] = None,
    verdict: Annotated[str | None, typer.Option(metavar="flag|block", help="What was done.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="At most so many.")] = 50,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """List the turns in which something was found, the newest first."""
    must_be_one_of(state, ("open", "decided", "all"), "--state")
    must_be_one_of(source, (None, "phrase", "injection", "guard", "outline"), "--source")
    must_be_one_of(verdict, (None, "flag", "block"), "--verdict")
    asked = {"session_id": session, "source": source, "verdict": verdict, "state": None if state == "all" else state}

    async def work(client: ModerationClient) -> None:
        console().print(reviews_table(await client.reviews(limit, **asked)), markup=False)

    run(work, base_url, key, data)


@app.command(epilog="Example:\n\n  drillyard moderation review 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11 3" + CODES)
def review(
    session: Session,
    turn: Turn,
    *,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Show one turn with its findings, what was withheld, and the turns around it."""

    async def work(client: ModerationClient) -> None:
        for line in review_lines(await client.review(session, turn)):
            typer.echo(printable(line))

    run(work, base_url, key, data)


@app.command(
    epilog="Examples:\n\n"
    "  drillyard moderation decide 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11 3 confirmed --note 'talked to her'\n\n"
    "  drillyard moderation decide 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11 3 false-alarm --list compliance --allow "
    "'guaranteed returns policy'\n\n"
    "  drillyard moderation decide 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11 3 false-alarm --list compliance --remove-rule "
    "17\n\n"
    "The first decision stands. What it changes in a list is in force with the answer, if the list is." + CODES
)
def decide(  # noqa: PLR0913  each is an option of the command
    session: Session,
    turn: Turn,
    decision: Choice,
    *,
    note: Annotated[str, typer.Option(help="What others should know.")] = "",
    list_name: Annotated[str | None, typer.Option("--list", metavar="LIST", help="The list that changes.")] = None,
    allow: Annotated[str | None, typer.Option(metavar="PHRASE", help="A longer phrase that is right.")] = None,
    remove_rule: Annotated[str | None, typer.Option(metavar="RULE", help="A rule that goes, by its id.")] = None,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Decide about a turn, and mend a phrase list by it."""
    must_be_one_of(decision, tuple(_DECISIONS), "decision")
    if (list_name is None) != (allow is None and remove_rule is None) or (allow and remove_rule):
        raise typer.BadParameter("a --list goes with either --allow or --remove-rule")

    async def work(client: ModerationClient) -> None:
        body: dict[str, object] = {"decision": _DECISIONS[decision], "note": note}
        if list_name is not None:
            found = await client.known(list_name)
            change = {"allow": {"list_id": found.id, "phrase": allow}}
            if remove_rule is not None:
                change = {"remove_rule": {"list_id": found.id, "rule": remove_rule}}
            body["effect"] = change
        typer.echo(decision_line(await client.decide(session, turn, body)))

    run(work, base_url, key, data)


@app.command(epilog="Example:\n\n  drillyard moderation outline 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11" + CODES)
def outline(session: Session, *, base_url: BaseUrl = None, key: OneKey = None, data: DataFolder = DEFAULT_DATA) -> None:
    """Show which talking points of its scenario a session's replies made."""

    async def work(client: ModerationClient) -> None:
        report = await client.outline(session)
        console().print(outline_table(report), markup=False)
        typer.echo(outline_line(report))

    run(work, base_url, key, data)
