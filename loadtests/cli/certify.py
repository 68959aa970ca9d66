"""`drillyard certify`: whether a class holds on a fleet, shown by playing it with faults."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from loadtests.certify.certifying import Certified, certified
from loadtests.certify.page import certificate_page
from loadtests.certify.wish import Wish
from loadtests.certify.words import lines
from loadtests.cli import run_options as opt
from loadtests.cli.drill_options import Given, drill_asked, faults_in
from loadtests.cli.refusing import refusals
from loadtests.cli.run_order import fleet_asked
from loadtests.conduct.order import Exit
from loadtests.conduct.parts import parts_of
from loadtests.conduct.stack import own_stack
from loadtests.domain.drill import Shape
from loadtests.domain.usual_drills import usual_lobby_s
from loadtests.run_folder import RUNS
from loadtests.target import DATA, Asked

_LOBBY_S = 10.0
EXAMPLES = (
    "Examples:\n\n"
    "  drillyard certify --class 30 --scenario zh\n\n"
    "  drillyard certify --class 300 --scenario en --fleet sim:10 --price 0.8 --html certificate.html\n\n"
    "  drillyard certify --class 40 --scenario zh --turns 8-12 --find-seats\n\n"
    "  drillyard certify --class 30 --scenario zh --base-url https://drills.example --keys-file keys.txt "
    "--not-local drills.example --no-faults\n\n"
    "Leaves with 0 when the class is certified, 1 when it is not, 2 when it could not be played, 3 when nothing was "
    "shown (the client spoiled it, or it was too short), 130 after Ctrl-C."
)

Class = Annotated[int, typer.Option("--class", min=1, max=5000, metavar="N", help="Trainees who start at one bell.")]
FirstToken = Annotated[
    float, typer.Option("--ttft", min=0.01, max=600, metavar="SECONDS", help="The agreed first-token time, as a p95.")
]
NoFaults = Annotated[bool, typer.Option("--no-faults", help="Break nothing; the certificate says so.")]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--faults",
        metavar="KIND@SECONDS[:REPLICA]",
        help="Break this instead of the usual: a replica killed, one frozen, Redis emptied. May be repeated.",
    ),
]
FindSeats = Annotated[
    bool, typer.Option("--find-seats", help="Play up to eight shorter classes to find how many seats there are.")
]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the certificate as a page of its own.")]
Json = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write it as JSON.")]


# Laid out by hand: one line for some options, where the formatter would take one for each.
def certify(  # noqa: PLR0913  one parameter per option is how typer declares them
    *,
    seats: Class, scenario: opt.Scenario = None, ttft: FirstToken = 1.5,
    turns: opt.Turns = None, think: opt.Think = None, reaction: opt.Reaction = None, lobby: opt.Lobby = None,
    allowance: opt.Allowance = None,
    faults: Faults = None, no_faults: NoFaults = False, find_seats: FindSeats = False, price: opt.Price = None,
    data: opt.Data = DATA, base_url: opt.BaseUrls = None, keys_file: opt.KeysFile = None,
    operator_key: opt.OperatorKey = None, fleet: opt.Fleet = None, not_local: opt.NotLocal = None,
    speed_up: opt.SpeedUp = None, workers: opt.Workers = 1, seed: opt.Seed = 1, folder: opt.Folder = RUNS,
    html: Html = None, json_file: Json = None,
) -> None:  # fmt: skip
    """Play a class with faults on a given fleet, and say how many seats it has, what was lost, and what it costs."""
    if no_faults and faults:
        raise typer.BadParameter("--faults and --no-faults contradict each other")
    values = {
        "trainees": seats, "scenario": scenario, "think_s": think, "reaction_s": reaction,
        "lobby_s": usual_lobby_s(_LOBBY_S, seats) if lobby is None else lobby,
        "allowance_s": allowance, "seed": seed,
    }  # fmt: skip
    wish = Wish(
        drill=drill_asked(Given(Shape.CLASS, values, turns=turns)),
        asked=Asked(
            data=data, base_urls=tuple(base_url or ()), keys_file=keys_file, operator_key=operator_key,
            scenario=scenario, not_local=tuple(not_local or ()),
        ),
        ttft_s=ttft, faults=() if no_faults else faults_in(tuple(faults)) if faults else None, find_seats=find_seats,
        price_per_hour=price, workers=workers, runs=folder,
    )  # fmt: skip
    with refusals("certify"):
        found = _certified(wish, fleet, speed_up, say=typer.echo)
    _write(found, html, json_file)
    for line in lines(found.certificate):
        typer.echo(line)
    is_cut = found.outcome.exit_code is Exit.INTERRUPTED
    raise typer.Exit(int(Exit.INTERRUPTED) if is_cut else found.certificate.exit_code)


def _certified(wish: Wish, fleet: str | None, speed_up: float | None, *, say: Callable[[str], None]) -> Certified:
    parts_of(wish.drill)  # a drill that makes no sense is refused before a stack is started for it
    if fleet is None:
        return certified(wish, say=say)
    plan = replace(fleet_asked(fleet, wish.asked), speed_up=speed_up or 1.0, window_tokens=wish.drill.window_tokens)
    with own_stack(plan, say=say) as stack:
        asked = replace(wish.asked, data=stack.data, base_urls=())
        return certified(replace(wish, asked=asked, fleet=str(plan)), say=say)


def _write(found: Certified, html: Path | None, json_file: Path | None) -> None:
    told = json.dumps(found.certificate.as_json(), indent=1, ensure_ascii=False) + "\n"
    beside = found.outcome.folder.path
    for file, content in (
        (html, certificate_page(found.certificate)),
        (json_file, told),
        (beside / "certificate.html", certificate_page(found.certificate)),
        (beside / "certificate.json", told),
    ):
        if file is not None:
            file.write_text(content, encoding="utf-8")
            typer.echo(f"written: {file}")
