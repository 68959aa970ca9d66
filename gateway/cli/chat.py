"""`drillyard chat`: a person plays one session."""

import asyncio
from contextlib import suppress
from typing import Annotated

import typer

from gateway.cli.api_client import Api
from gateway.cli.chat_session import ChatSession, Said
from gateway.cli.connection import DEFAULT_DATA, BaseUrl, Connection, DataFolder, OneKey, connection
from gateway.cli.drill_view import console
from gateway.cli.failure import INTERRUPTED
from gateway.cli.wire import SessionView

PROMPT = "\n> "
HELP = (
    "/quit leaves, /scene NAME changes the scene, /context shows how the next prompt is built to an instructor, "
    "/help shows this; Ctrl-C stops a reply"
)

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard chat\n\n"
    "  drillyard chat --scenario zh --keep\n\n"
    "  drillyard chat --drill 5f0c0f6e-6a0e-4bd1-9d2a-2f0f3a1b7c11\n\n"
    "  drillyard chat --session 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11"
)


def chat(  # noqa: PLR0913 - one argument for each option of the command line
    *,
    scenario: Annotated[
        str | None, typer.Option(help="Id, locale (zh, en-GB) or part of the title; by default the first one.")
    ] = None,
    drill: Annotated[
        str | None, typer.Option(metavar="ID", help="Take a seat in this class, and play what it plays.")
    ] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Go on with this session.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the session open at the end.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Play one session as a trainee: write, and read the reply as it comes."""
    if sum(each is not None for each in (scenario, drill, session)) > 1:
        raise typer.BadParameter(
            "a class and a session have their scenario; give one of --scenario, --drill, --session"
        )
    told = connection(base_url=base_url, keys=(key,) if key else (), data=data)
    with suppress(ImportError):
        import readline  # noqa: F401, PLC0415 - gives input() its line editing, where there is one
    with asyncio.Runner() as runner:
        interrupted = _play(runner, told, scenario=scenario, drill=drill, session=session, keep=keep)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _play(
    runner: asyncio.Runner,
    told: Connection,
    *,
    scenario: str | None,
    drill: str | None,
    session: str | None,
    keep: bool,
) -> bool:
    """Whether it was left by Ctrl-C. Lines are read between the runs of the loop, where Ctrl-C acts as everywhere."""
    api = runner.run(_opened(told.base_url))
    try:
        reader = api.as_holder_of(told.instructor_key or told.keys[0])
        talk = ChatSession(client=api.as_holder_of(told.keys[0]), reader=reader, screen=console())
        found = runner.run(talk.begin(scenario=scenario, drill=drill, session=session, default=told.default_scenario))
        try:
            return _talk(runner, talk)
        finally:
            runner.run(_leave(talk, found, keep=keep))
    finally:
        runner.run(api.close())


async def _opened(base_url: str) -> Api:
    return Api(base_url=base_url)


async def _leave(talk: ChatSession, session: SessionView, *, keep: bool) -> None:
    if keep:
        talk.note(f"session {session.id} stays open; go on with --session {session.id}")
    else:
        await talk.close()
        talk.note(f"session {session.id} is closed")


def _talk(runner: asyncio.Runner, talk: ChatSession) -> bool:
    while True:
        try:
            line = input(PROMPT).strip()
        except EOFError:
            return False
        except KeyboardInterrupt:
            return True
        if line == "/quit":
            return False
        if line and _answered(runner, talk, line) is Said.LAST:
            return False


def _answered(runner: asyncio.Runner, talk: ChatSession, line: str) -> Said:
    if line == "/context":
        runner.run(talk.show_context())
    elif line.partition(" ")[0] == "/scene":
        runner.run(talk.change_scene(line.removeprefix("/scene").strip()))
    elif line.startswith("/"):
        talk.note(HELP)
    else:
        return runner.run(talk.say(line))
    return Said.ON
