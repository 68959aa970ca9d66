"""`drillyard load`: which commands there are, and where each is found once it is asked for."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

import typer


class Command(NamedTuple):
    """A function, or a group, that is imported once it is called, so that --help stays quick."""

    name: str
    module: str
    attribute: str
    help: str


COMMANDS = (
    Command("run", "loadtests.cli.run", "run", "Play a load drill, judge it, and keep what was measured."),
    Command("report", "loadtests.cli.report", "report", "Write the report of a run again, from its folder."),
    Command("list", "loadtests.cli.ledger", "list_runs", "List the runs that were kept, newest first."),
    Command("show", "loadtests.cli.ledger", "show_run", "Show one run: circumstances, targets, main figures."),
    Command("compare", "loadtests.cli.compare", "compare_runs", "Say what changed between runs, and what is chance."),
    Command("regress", "loadtests.cli.regress", "regress", "One change, whole regression: play a suite, and compare."),
    Command("accept", "loadtests.cli.regress", "accept_last", "Make the last regression the baseline of the next."),
    Command("prune", "loadtests.cli.ledger", "prune_runs", "Remove old runs."),
    Command("targets", "loadtests.cli.targets", "targets", "Print what a class is held to, as a file to start from."),
    Command("story", "loadtests.cli.story", "story", "Show what each optimisation gives, one at a time."),
    Command("shapes", "loadtests.cli.shapes", "shapes", "List the shapes of load, and what each is for."),
)
_EXAMPLES = (
    "Examples:\n\n"
    "  drillyard load run class --trainees 20 --turns 3-5 --fleet sim:2 --speed-up 4\n\n"
    "  drillyard load run staircase --stairs 5,10,20,40 --data .drillyard\n\n"
    "  drillyard load shapes"
)


def _application() -> typer.Typer:
    application = typer.Typer(
        help="Prove that a class will hold: load drills, verdicts, and a ledger of both.",
        epilog=_EXAMPLES,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    application.callback()(_group)
    for each in COMMANDS:
        _register(application, each)
    return application


def _group() -> None:
    pass


def _register(application: typer.Typer, command: Command) -> None:
    def forward(context: typer.Context) -> None:
        # The real command parses its own words, --help among them, and ends by SystemExit.
        _loaded(command)(args=context.args, prog_name=context.command_path)

    application.command(
        command.name,
        help=command.help,
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False},
    )(forward)


def _loaded(command: Command) -> typer.Typer:
    module = import_module(command.module)
    found: typer.Typer | Callable[..., None] = getattr(module, command.attribute)
    if isinstance(found, typer.Typer):
        return found
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    single.command(epilog=getattr(module, "EXAMPLES", None))(found)
    return single


app = _application()
