"""`drillyard load regress`: one change, whole regression; and `accept`, which makes the last one what others are
held against."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from loadtests.cli.ledger import Folder
from loadtests.cli.ledger_view import console
from loadtests.cli.refusing import refusals
from loadtests.cli.regress_view import history_table, regression_table, summary
from loadtests.cli.run_options import BaseUrls, Data, Fleet, KeysFile, NotLocal, OperatorKey, Scenario, SpeedUp, Workers
from loadtests.cli.run_order import Wanted, fleet_asked, played
from loadtests.conduct.order import DrillFailed, Exit
from loadtests.ledger.baselines import Baselines
from loadtests.ledger.book import Ledger
from loadtests.regress.record import Record, row_of
from loadtests.regress.regression import MATTERS, Play, Regress, Regression, Say
from loadtests.regress.suite import Item, Suite, UnusableSuite, load_suite
from loadtests.run_folder import RUNS, RunFolder
from loadtests.target import DATA, Asked, target

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard load regress --fleet sim:2 --speed-up 4 --accept\n\n"
    '  drillyard load regress --fleet sim:2 --speed-up 4 --change "max-num-seqs 64"\n\n'
    "  drillyard load accept\n\n"
    "  drillyard load regress --history\n\n"
    "`regress` leaves with 0 when nothing became worse or was missed, 1 when something did, 2 when it could not begin, "
    "3 when a run was void, 130 after Ctrl-C. A drill that cannot be played counts as missed, and does not stop the "
    "rest. `accept` leaves with 2 when there is nothing to accept."
)


def regress(  # noqa: PLR0913 - one parameter per option is how typer declares them
    *,
    suite: Annotated[str, typer.Option("--suite", metavar="NAME", help="A shipped one, or a YAML file.")] = "quick",
    change: Annotated[str, typer.Option("--change", metavar="WORDS", help="What was changed, for the record.")] = "",
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=20, help="How often each drill is played.")] = 1,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="NAME", help="Only this drill.")] = None,
    matters: Annotated[float, typer.Option("--matters", min=0, max=1, help="Smaller changes are noise.")] = MATTERS,
    accept: Annotated[bool, typer.Option("--accept", help="Make this the baseline.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Show what was changed before, and leave.")] = False,
    data: Data = DATA,
    base_url: BaseUrls = None,
    keys_file: KeysFile = None,
    operator_key: OperatorKey = None,
    scenario: Scenario = None,
    fleet: Fleet = None,
    not_local: NotLocal = None,
    speed_up: SpeedUp = None,
    workers: Workers = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the row of the record for a program.")] = False,
    folder: Folder = RUNS,
) -> None:
    """Play a suite of drills, hold each against its baseline, and say what became better or worse."""
    if history:
        _show_history(folder, as_json=as_json)
        return
    with refusals("load regress"):
        chosen = _suite(suite, only)
        asked = Asked(
            data=data, base_urls=tuple(base_url or ()), keys_file=keys_file, operator_key=operator_key,
            scenario=scenario, not_local=tuple(not_local or ()),
        )  # fmt: skip
        wanted = Wanted(
            drill=chosen.items[0].drill, asked=asked, fleet=fleet_asked(fleet, asked) if fleet else None,
            speed_up=speed_up, workers=workers, runs=folder,
        )  # fmt: skip
        if fleet is None:
            for item in chosen.items:
                target(_of(item, wanted).asked)
        found = Regress(
            ledger=Ledger(folder),
            play=_player(wanted, say=lambda line: typer.echo(f"  {line}", err=as_json)),
            say=lambda line: typer.echo(line, err=as_json),
            rounds=rounds,
            matters=matters,
        )(chosen)
        is_accepted = accept and not found.is_interrupted
        row = row_of(found, at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), change=change, accepted=is_accepted)
        Record(folder).append(row)
        if is_accepted:
            Baselines(folder).accept(found.acceptable())
    if as_json:
        typer.echo(json.dumps(row, indent=1, ensure_ascii=False))
    else:
        _show(found, is_accepted=is_accepted)
    raise typer.Exit(found.exit_code)


def accept_last(*, folder: Folder = RUNS) -> None:
    """Make the runs of the last regression what others are held against."""
    with refusals("load accept"):
        accepted = Record(folder).last_acceptable()
        if not accepted:
            typer.echo("drillyard load accept: the last regression has no run that may be accepted", err=True)
            raise typer.Exit(int(Exit.REFUSED))
        for runs in accepted.values():
            for run in runs:
                Ledger(folder).find(run)
        Baselines(folder).accept(accepted)
        for place, runs in accepted.items():
            typer.echo(f"{place.suite} {place.name}: {', '.join(runs)}")


def _suite(name: str, only: list[str] | None) -> Suite:
    try:
        whole = load_suite(name)
    except UnusableSuite as error:
        raise DrillFailed("\n".join(f"{name}: {each}" for each in error.complaints)) from None
    names = [each.name for each in whole.items]
    if strange := [each for each in only or () if each not in names]:
        raise DrillFailed(f"{name} has no drill {', '.join(strange)}; it has {', '.join(names)}")
    return Suite(name=whole.name, items=tuple(each for each in whole.items if not only or each.name in only))


def _player(wanted: Wanted, *, say: Say) -> Play:
    """On a stack of its own each, or all on what was named."""

    def play(item: Item) -> RunFolder:
        outcome = played(_of(item, wanted), say=say)
        if outcome.exit_code is Exit.INTERRUPTED:
            raise KeyboardInterrupt
        return outcome.folder

    return play


def _of(item: Item, wanted: Wanted) -> Wanted:
    drill = replace(item.drill, scenario=wanted.asked.scenario or item.drill.scenario)
    asked = replace(wanted.asked, scenario=drill.scenario or None, wire=drill.wire, affinity=drill.affinity)
    return replace(wanted, drill=drill, asked=asked, targets=item.targets)


def _show(found: Regression, *, is_accepted: bool) -> None:
    screen = console()
    screen.print()
    screen.print(regression_table(found))
    screen.print()
    for line in summary(found, accepted=is_accepted):
        screen.print(line, markup=False, highlight=False, soft_wrap=True)


def _show_history(folder: Path, *, as_json: bool) -> None:
    rows, unreadable = Record(folder).rows()
    if as_json:
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    console().print(history_table(rows))
    if unreadable:
        typer.echo(f"{unreadable} lines of the record cannot be read")
