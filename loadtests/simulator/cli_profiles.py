"""`profiles` shows what replicas can be simulated; `calibrate` makes a profile of a live one."""

import asyncio
from pathlib import Path
from typing import Annotated

import httpx
import typer
from rich.console import Console
from rich.table import Table

from loadtests.simulator.calibration import Calibration, Effort, calibrate
from loadtests.simulator.domain.fit import Quality
from loadtests.simulator.domain.profile import Profile
from loadtests.simulator.errors import SimulatorError
from loadtests.simulator.live_replica import LiveReplica
from loadtests.simulator.profile_files import load, shipped, text_of

_TURN_LIMIT_S = 300.0


def show_profiles(
    name: Annotated[str | None, typer.Argument(help="One of them, with where each figure comes from.")] = None,
) -> None:
    """Show the profiles that come with the simulator."""
    console = Console()
    if name is None:
        table = Table("name", "tokens of KV", "what it is", box=None, pad_edge=False)
        for known in shipped():
            profile = load(known)
            table.add_row(known, f"{profile.blocks * profile.limits.block_tokens:,}", profile.provenance)
    else:
        profile = _loaded(name)
        console.print(profile.provenance, soft_wrap=True)
        table = Table("figure", "value", "source", "why", box=None, pad_edge=False)
        for source in profile.sources:
            section, _, figure = source.figure.partition(".")
            value = getattr(getattr(profile, section), figure)
            table.add_row(source.figure, f"{value}", source.kind.value, source.why)
    console.print(table)


def calibrate_live(
    base_url: Annotated[str, typer.Argument(help="A live replica, as http://127.0.0.1:8000.")],
    *,
    out: Annotated[Path, typer.Option(help="Where the profile goes.")],
    name: Annotated[str | None, typer.Option(help="Of the profile; by default that of the file.")] = None,
    like: Annotated[str, typer.Option(help="Profile to take over what cannot be measured from outside.")] = "h200-7b",
    rounds: Annotated[int, typer.Option(min=1, help="How often everything is measured.")] = 3,
    speed_up: Annotated[float, typer.Option(min=0.01, help="Of the replica, if it is a simulated one.")] = 1.0,
) -> None:
    """Measure a live replica that nobody else uses, and write a profile of it.

    vLLM must run with --enable-prompt-tokens-details. It takes one to several minutes.
    """
    console = Console(stderr=True)
    effort = Effort(rounds=rounds, speed_up=speed_up)
    try:
        measured = asyncio.run(_measured(base_url, like=like, name=name or out.stem, effort=effort, console=console))
    except SimulatorError as error:
        console.print(f"[red]cannot calibrate:[/] {error}")
        raise typer.Exit(1) from error
    out.write_text(text_of(measured.profile), "utf-8")
    prefill, decode = measured.profile.prefill, measured.profile.decode
    console.print(
        f"first token: {prefill.base_ms:.1f} ms + {prefill.per_token_ms:.4g} u + {prefill.per_pair_ms:.3g} u (c + u/2)"
        f"  ({_quality(measured.prefill)})"
    )
    pace = f"{decode.weights_ms:.2f} ms + {decode.per_sequence_ms:.3g} x streams"
    console.print(f"each token:  {pace}  ({_quality(measured.decode)})")
    console.print(f"written to {out}")


async def _measured(base_url: str, *, like: str, name: str, effort: Effort, console: Console) -> Calibration:
    async with httpx.AsyncClient(base_url=base_url, timeout=_TURN_LIMIT_S) as client:
        replica = LiveReplica(client, clock=asyncio.get_running_loop().time)
        return await calibrate(replica, like=load(like), name=name, effort=effort, tell=console.print)


def _quality(quality: Quality) -> str:
    return f"{quality.kept} readings, {quality.dropped} left out, median error {quality.median_error:.1%}"


def _loaded(name: str) -> Profile:
    try:
        return load(name)
    except SimulatorError as error:
        Console(stderr=True).print(f"[red]no such profile:[/] {error}")
        raise typer.Exit(1) from error
