"""`drillyard drill`: the class calendar, and load drills from the terminal."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from gateway.cli import drill_report, trainee_lines
from gateway.cli.api_client import Api
from gateway.cli.connection import (
    DEFAULT_DATA,
    BaseUrl,
    Connection,
    DataFolder,
    KeysFile,
    ManyKeys,
    connection,
    keys_of,
)
from gateway.cli.drill_call import scenario_of
from gateway.cli.drill_class import play_class
from gateway.cli.drill_plan import DrillPlan, check_turns, chosen
from gateway.cli.drill_report import Report
from gateway.cli.drill_summary import summary
from gateway.cli.drill_view import console, watched
from gateway.cli.entries import Entry, with_entries
from gateway.cli.failure import INTERRUPTED
from gateway.cli.wire import ScenarioView

COMMANDS: tuple[Entry, ...] = (
    Entry("add", "gateway.cli.drill_add", "add", "Schedule a class, or classes that repeat."),
    Entry("list", "gateway.cli.drill_list", "list_drills", "List the classes that are to come."),
    Entry("show", "gateway.cli.drill_show", "show", "Show one class, and what it asks of the replicas."),
    Entry("move", "gateway.cli.drill_move", "move", "Give a class another time."),
    Entry("cancel", "gateway.cli.drill_cancel", "cancel", "Cancel a class."),
    Entry("series", "gateway.cli.drill_series", "series", "Show classes that repeat, or cancel those to come."),
    Entry("import", "gateway.cli.drill_import", "import_file", "Take classes over from a table or a calendar."),
)

app = with_entries(
    typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False),
    COMMANDS,
)

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard drill run --scenario zh --trainees 8 --turns 5\n\n"
    "  drillyard drill run --scenario en --trainees 40 --turns 10 --think 5 --json drill.json\n\n"
    "  drillyard drill run --drill 5f0c0f6e-6a0e-4bd1-9d2a-2f0f3a1b7c11 --trainees 30\n\n"
    "  drillyard drill run --base-url https://drills.example --keys-file keys.txt --scenario 'angry customer'\n\n"
    "Leaves with 0 when every turn was right, 1 when anything failed, 130 after Ctrl-C."
)


@app.callback()
def _group() -> None:
    """Schedule classes, or let one of scripted trainees run through a scenario.

    The calendar takes an instructor's key, a run those of trainees.
    """


@app.command(epilog=EXAMPLES)
def run(  # noqa: PLR0913 - one argument for each option of the command line
    *,
    scenario: Annotated[
        str | None, typer.Option(help="Id, locale (zh, en-GB) or part of the title; by default the first one.")
    ] = None,
    drill: Annotated[
        str | None, typer.Option(metavar="ID", help="Take the seats of this class, and play what it plays.")
    ] = None,
    trainees: Annotated[int, typer.Option(min=1, max=5000, help="Sessions at the same time.")] = 4,
    turns: Annotated[int, typer.Option(min=1, max=200, help="Turns of each session.")] = 5,
    think: Annotated[
        float, typer.Option(min=0, max=3600, metavar="SECONDS", help="Mean time between a reply and the next message.")
    ] = 1.0,
    base_url: BaseUrl = None,
    key: ManyKeys = None,
    keys_file: KeysFile = None,
    data: DataFolder = DEFAULT_DATA,
    lines: Annotated[Path | None, typer.Option(help="What trainees say, one line a turn; by default bundled.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="All rows and the summary.")] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=3600, metavar="SECONDS", help="A turn that takes longer has failed.")
    ] = 120.0,
    seed: Annotated[int, typer.Option(help="Of the drawn times to think; the same seed draws the same.")] = 1,
) -> None:
    """Play many sessions at once with scripted trainees, and tell how it went."""
    if scenario is not None and drill is not None:
        raise typer.BadParameter("a class has its scenario; give one of --scenario and --drill")
    told = connection(base_url=base_url, keys=keys_of(key, keys_file), data=data)
    if json_file is not None:
        drill_report.check_writable(json_file)
    own_lines = trainee_lines.from_file(lines) if lines is not None else None

    def planned(found: ScenarioView) -> DrillPlan:
        check_turns(found, turns)
        said = own_lines or trainee_lines.bundled(found.locale)
        return DrillPlan(
            found.id, trainees, turns, think_s=think, timeout_s=timeout, seed=seed, lines=said, drill=drill
        )

    report = asyncio.run(_played(told, scenario, drill, planned))
    drill_report.show(report, console())
    if json_file is not None:
        drill_report.write(report, json_file)
    if report.stopped:
        raise typer.Exit(INTERRUPTED)
    if not report.summary.passed:
        raise typer.Exit(1)


async def _played(
    told: Connection, scenario: str | None, drill: str | None, planned: Callable[[ScenarioView], DrillPlan]
) -> Report:
    born = perf_counter()

    def clock() -> float:
        return perf_counter() - born

    async with Api(base_url=told.base_url, clock=clock) as api:
        first = api.as_holder_of(told.keys[0])
        asked = scenario if drill is None else await scenario_of(first, drill)
        found = chosen(await first.scenarios(), asked, default=told.default_scenario)
        plan = planned(found)
        screen = console()
        screen.print(f"{plan.trainees} trainees, {plan.turns} turns each: {found.title} ({found.locale})", markup=False)
        born = perf_counter()  # moments in the rows count from the bell
        with watched(screen, trainees=plan.trainees, turns=plan.turns) as board:
            finished = await play_class(plan, api=api, keys=told.keys, board=board, clock=clock)
    found_out = summary(board.rows, others=board.failures, wanted_turns=plan.trainees * plan.turns)
    return Report(plan, told.base_url, stopped=not finished, took_s=clock(), summary=found_out, rows=board.rows)
