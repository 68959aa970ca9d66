"""`drillyard fleet`: what operators do with replicas."""

import asyncio
from typing import Annotated

import typer

from gateway.cli.api_client import ApiClient
from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey, StaffConnection, operator_connection
from gateway.cli.drill_view import console
from gateway.cli.entries import Entry, with_entries
from gateway.cli.failure import CommandFailed
from gateway.cli.fleet_call import operator_client
from gateway.cli.fleet_view import decision_lines, drain_line, fleet_table
from gateway.cli.fleet_wire import DrainView, ReplicaView

COMMANDS: tuple[Entry, ...] = (
    Entry(
        "run",
        "gateway.cli.fleet_run",
        "run",
        "Look after the replicas by the calendar, in a process that does only that.",
    ),
    Entry("weights", "gateway.cli.fleet_weights", "weights", "Fetch a model's weights to this machine and check them."),
    Entry("status", "gateway.cli.fleet_status", "status", "Show what is ready for the next bell, and what is missing."),
    Entry("plan", "gateway.cli.fleet_plan", "plan", "Show replicas over the next hours, as the calendar wants them."),
    Entry(
        "simulate", "gateway.cli.fleet_simulate", "simulate", "Play a calendar of classes at speed, and say what came."
    ),
    Entry("scale", "gateway.cli.fleet_scale", "scale", "Have more replicas of a pool than the calendar wants."),
    Entry("compose", "gateway.cli.fleet_compose", "compose", "Write a Compose file with a replica for each GPU."),
    Entry("profile", "gateway.cli.fleet_profile", "app", "Check a vLLM profile, and show what it says."),
)
"""Those of modules of their own."""

app = with_entries(
    typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False),
    COMMANDS,
)

LOOK_EVERY_S = 1.0

ReplicaName = Annotated[str, typer.Argument(metavar="REPLICA", help="Its id, as `drillyard fleet list` shows it.")]


@app.callback()
def _group() -> None:
    """See the fleet and its plan, scale a pool, empty a replica, and ask why a turn ran where it did.

    What asks a running server takes an operator's key.
    """


@app.command("list", epilog="Example:\n\n  drillyard fleet list")
def list_replicas(*, base_url: BaseUrl = None, key: OneKey = None, data: DataFolder = DEFAULT_DATA) -> None:
    """List the replicas with their health, their sessions and what is amiss."""

    async def run(told: StaffConnection) -> None:
        async with operator_client(told) as client:
            console().print(fleet_table((await client.fleet()).replicas), markup=False)

    asyncio.run(run(operator_connection(base_url=base_url, key=key, data=data)))


@app.command(
    epilog="Examples:\n\n"
    "  drillyard fleet drain replica-1\n\n"
    "  drillyard fleet drain replica-1 --within 300 --wait && docker stop replica-1\n\n"
    "New sessions go elsewhere at once. Those that are there move between two turns, and when the time is over all "
    "that is left. With --wait it leaves with 0 once the replica may be stopped, with 1 if somebody undid the drain."
)
def drain(
    replica: ReplicaName,
    *,
    within: Annotated[
        float | None,
        typer.Option(min=0.1, max=86_400, metavar="SECONDS", help="When all has to be elsewhere; by default 120 s."),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Show how it goes, until the replica may be stopped.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Empty a replica without anybody noticing."""

    async def run(told: StaffConnection) -> None:
        async with operator_client(told) as client:
            ordered = await client.drain(replica, within_s=within)
            _say(ordered)
            if wait:
                await _watch(client, ordered)

    asyncio.run(run(operator_connection(base_url=base_url, key=key, data=data)))


@app.command("undo", hidden=True, epilog="Example:\n\n  drillyard fleet undrain replica-1")
@app.command(epilog="Example:\n\n  drillyard fleet undrain replica-1")
def undrain(
    replica: ReplicaName, *, base_url: BaseUrl = None, key: OneKey = None, data: DataFolder = DEFAULT_DATA
) -> None:
    """Undo a drain; sessions that have moved stay where they are."""

    async def run(told: StaffConnection) -> None:
        async with operator_client(told) as client:
            await client.undo_drain(replica)
            typer.echo(f"{replica} takes sessions again in a moment")

    asyncio.run(run(operator_connection(base_url=base_url, key=key, data=data)))


@app.command(epilog="Example:\n\n  drillyard fleet why 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11-3")
def why(
    turn: Annotated[str, typer.Argument(metavar="TURN_ID", help="The session's id, a hyphen, and the turn's number.")],
    *,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Tell why a turn ran where it did: pin, candidates, and what became of each attempt."""

    async def run(told: StaffConnection) -> None:
        async with operator_client(told) as client:
            for line in decision_lines(await client.decision(turn)):
                console().print(line, markup=False, soft_wrap=True)

    asyncio.run(run(operator_connection(base_url=base_url, key=key, data=data)))


async def _watch(client: ApiClient, ordered: ReplicaView) -> None:
    """Say whatever has changed, until the replica may be stopped."""
    last = ordered.drain
    while last is not None and not last.may_stop:
        await asyncio.sleep(LOOK_EVERY_S)
        now = await client.replica(ordered.id)
        if now.drain is None:
            raise CommandFailed(f"the drain of {ordered.id} was undone")
        if _differs(now.drain, last):
            _say(now)
        last = now.drain


def _differs(now: DrainView, before: DrainView) -> bool:
    """Apart from the time, which always does."""
    return now.model_copy(update={"seconds_left": before.seconds_left}) != before


def _say(replica: ReplicaView) -> None:
    drain = replica.drain
    if drain is None:
        typer.echo(f"{replica.id} is not being drained")
    else:
        typer.echo(f"{replica.id}: {'it may be stopped now' if drain.may_stop else drain_line(drain)}")
