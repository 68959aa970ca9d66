"""Commands that are imported once they are called, so that --help of what holds them stays quick."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module

import typer


@dataclass(frozen=True, slots=True)
class Entry:
    """One command or group, and where it is found."""

    name: str
    module: str
    attribute: str
    help: str


def with_entries(app: typer.Typer, entries: Iterable[Entry]) -> typer.Typer:
    for entry in entries:
        _register(app, entry)
    return app


def _register(app: typer.Typer, entry: Entry) -> None:
    def forward(context: typer.Context) -> None:
        # The real command parses its own words, --help among them, and ends by SystemExit.
        _loaded(entry)(args=context.args, prog_name=context.command_path)

    app.command(
        entry.name,
        help=entry.help,
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False},
    )(forward)


def _loaded(entry: Entry) -> typer.Typer:
    module = import_module(entry.module)
    found: typer.Typer | Callable[..., None] = getattr(module, entry.attribute)
    if isinstance(found, typer.Typer):
        return found
    command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    command.command(epilog=getattr(module, "EXAMPLES", None))(found)
    return command
