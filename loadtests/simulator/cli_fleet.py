"""`fleet`: many replicas of one kind from one command."""

import json
import signal
from typing import Annotated

import typer

from loadtests.simulator.domain.engine import Engine
from loadtests.simulator.errors import SimulatorError
from loadtests.simulator.fleet import Fleet
from loadtests.simulator.options import Options
from loadtests.simulator.profile_files import load
from loadtests.simulator.script import Script
from loadtests.simulator.serving import run_replica

_LAST_PORT = 65_535
_ASKED_TO_END = {0, -signal.SIGTERM, -signal.SIGINT}


def serve_fleet(
    replicas: Annotated[int, typer.Argument(min=1, help="How many.")],
    *,
    first_port: Annotated[int, typer.Option(min=1, max=_LAST_PORT, help="They take this one and those after it.")],
    profile: Annotated[str, typer.Option(help="A profile's name, or the path of its JSON.")] = "48gb-14b-after",
    speed_up: Annotated[float, typer.Option(min=0.001, help="Simulated seconds per real second.")] = 1.0,
    served_model_name: Annotated[str, typer.Option(help="The name in requests and answers.")] = "smollm2",
    shutdown_timeout: Annotated[float, typer.Option(min=0, help="Seconds to finish in after SIGTERM.")] = 0.0,
) -> None:
    """Serve many replicas, a process each, until SIGTERM. Says as JSON lines which port and pid each of them has.

    A replica that ends by a fault is told of and not started again. Usage always tells the cached tokens.
    """
    if first_port + replicas - 1 > _LAST_PORT:
        raise typer.BadParameter(f"{replicas} ports from {first_port} on reach beyond {_LAST_PORT}")
    try:
        loaded = load(profile)
    except SimulatorError as error:
        typer.echo(f"drillyard sim: {error}", err=True)
        raise typer.Exit(1) from error

    def serve(port: int) -> int:
        options = Options(
            served_model_name=served_model_name,
            speed_up=speed_up,
            port=port,
            shutdown_timeout_s=shutdown_timeout,
            enable_prompt_tokens_details=True,
        )
        return run_replica(options, Engine(loaded), Script())

    fleet = Fleet(serve)
    fleet.freeze()
    for number in range(replicas):
        member = fleet.launch(first_port + number)
        typer.echo(json.dumps({"port": member.port, "pid": member.pid}))
    failed = 0
    for ended in fleet.outlive():
        failed += ended.status not in _ASKED_TO_END
        typer.echo(json.dumps({"port": ended.member.port, "pid": ended.member.pid, "ended": ended.status}))
    raise typer.Exit(1 if failed else 0)
