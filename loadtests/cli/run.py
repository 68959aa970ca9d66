"""`drillyard load run`: plays a load drill, judges it, and keeps what was measured."""

from collections.abc import Callable
from dataclasses import replace

import typer

from loadtests.cli import run_options as opt
from loadtests.cli.drill_options import Given, drill_asked, require_heeded
from loadtests.cli.outcome_view import show_outcome
from loadtests.cli.plan_view import show_plan
from loadtests.cli.refusing import refusals
from loadtests.cli.run_order import Wanted, fleet_asked, played, read_text, targets_of
from loadtests.conduct.parts import parts_of
from loadtests.domain.ablation import Without, not_needed
from loadtests.domain.drill import Affinity, Crowd
from loadtests.domain.foreseen import unprovable
from loadtests.domain.offered import offered
from loadtests.run_files import read_rows
from loadtests.run_folder import RUNS
from loadtests.target import DATA, Asked

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard load run class --trainees 20 --turns 3-5 --think 1 --fleet sim:2 --speed-up 4\n\n"
    "  drillyard load run class --trainees 300 --plan\n\n"
    "  drillyard load run staircase --stairs 5,10,20,40 --targets targets.yaml\n\n"
    "  drillyard load run recovery --faults kill@60:replica-1 --faults redis-restart@90\n\n"
    "  drillyard load run class --base-url https://drills.example --keys-file keys.txt --not-local drills.example\n\n"
    "  drillyard load run class --wire chat --affinity none --base-url http://127.0.0.1:8001 "
    "--base-url http://127.0.0.1:8002\n\n"
    "Leaves with 0 when every target was met, 1 when one was missed, 2 when it could not run, 3 when nothing was "
    "proven (too few turns, or the client spoiled it), 130 after Ctrl-C."
)


# Laid out by hand: one line for some options, where the formatter would take one for each.
def run(  # noqa: PLR0913  one parameter per option is how typer declares them
    shape: opt.ShapeName, *,
    trainees: opt.Trainees = None, turns: opt.Turns = None, think: opt.Think = None, reaction: opt.Reaction = None,
    lobby: opt.Lobby = None, allowance: opt.Allowance = None, timeout: opt.Timeout = None,
    leavers: opt.Leavers = 0.0, reconnecting: opt.Reconnecting = 0.0, impatient: opt.Impatient = 0.0,
    hostile: opt.Hostile = 0.0,
    stairs: opt.Stairs = None, stair: opt.StairS = None, prompt_shares: opt.PromptShares = None,
    window: opt.Window = None, reply_tokens: opt.ReplyTokens = None, trace: opt.Trace = None,
    trace_seconds: opt.TraceS = None, trace_rate: opt.TraceRate = None, faults: opt.Faults = None,
    without: opt.WithoutWhat = None,
    data: opt.Data = DATA, base_url: opt.BaseUrls = None, keys_file: opt.KeysFile = None,
    operator_key: opt.OperatorKey = None,
    scenario: opt.Scenario = None, model: opt.Model = None, system: opt.System = None, wire: opt.WireName = None,
    history: opt.History = None, affinity: opt.AffinityName = Affinity.SERVER, fleet: opt.Fleet = None,
    not_local: opt.NotLocal = None, speed_up: opt.SpeedUp = None,
    targets: opt.TargetsFile = None, workers: opt.Workers = 1, seed: opt.Seed = 1, folder: opt.Folder = RUNS,
    price: opt.Price = None, plan: opt.Plan = False, as_json: opt.Json = False,
) -> None:  # fmt: skip
    """Play a load drill, judge it, and keep what was measured.

    Times are drill seconds: those of simulated replicas where these run faster than we do, else real ones.
    """
    values = {
        "trainees": trainees, "think_s": think, "reaction_s": reaction, "lobby_s": lobby, "allowance_s": allowance,
        "timeout_s": timeout, "stair_s": stair, "window_tokens": window, "reply_tokens": reply_tokens, "trace": trace,
        "trace_s": trace_seconds, "trace_rate": trace_rate, "wire": wire, "history": history, "affinity": affinity,
        "seed": seed, "scenario": scenario,
        "crowd": Crowd(leavers=leavers, reconnecting=reconnecting, impatient=impatient, hostile=hostile),
    }  # fmt: skip
    given = Given(shape, values, turns=turns, stairs=stairs, prompt_shares=prompt_shares, faults=tuple(faults or ()))
    drill = drill_asked(given)
    with refusals("load run"):
        asked = Asked(
            data=data, base_urls=tuple(base_url or ()), keys_file=keys_file, operator_key=operator_key,
            scenario=scenario, model=model,
            system=read_text(system) if system else "", wire=drill.wire, affinity=affinity,
            not_local=tuple(not_local or ()),
        )  # fmt: skip
        wanted = Wanted(
            drill=drill, asked=asked, targets=targets_of(targets), fleet=fleet_asked(fleet, asked) if fleet else None,
            speed_up=speed_up, window_tokens=window, workers=workers, price_per_hour=price, runs=folder,
        )  # fmt: skip
        wanted = wanted if without is None else wanted.without(without)
        require_heeded(wanted.drill.wire, model=model, system=system)
        if plan:
            _plan(wanted, as_json=as_json)
            return
        _play(wanted, without, as_json=as_json)


def _plan(wanted: Wanted, *, as_json: bool) -> None:
    drill = replace(wanted.drill, speed_up=wanted.speed_up or 1.0)
    parts = parts_of(drill)
    show_plan(drill, offered(drill, parts), unprovable(drill, parts, wanted.targets), as_json=as_json)


def _play(wanted: Wanted, without: Without | None, *, as_json: bool) -> None:
    outcome = played(wanted, say=_say(as_json=as_json))
    show_outcome(outcome, as_json=as_json)
    if without is not None and (why := not_needed(without, wanted.drill, read_rows(outcome.folder))):
        typer.echo(f"{without} was taken away from a class that does not need it: {why}", err=True)
    raise typer.Exit(int(outcome.exit_code))


def _say(*, as_json: bool) -> Callable[[str], None]:
    """Progress goes where results do not, when these are for a program."""
    return lambda line: typer.echo(line, err=as_json)
