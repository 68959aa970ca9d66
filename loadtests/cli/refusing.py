"""How every command of load drills says that it could not do what it was asked."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from loadtests.conduct.order import DrillFailed, Exit
from loadtests.conduct.stack import StackFailed, UnknownFleet
from loadtests.ledger.book import NoSuchRun
from loadtests.run_files import RunDamaged
from loadtests.target import TargetRefused

_REASONS = (DrillFailed, NoSuchRun, RunDamaged, StackFailed, TargetRefused, UnknownFleet)


@contextmanager
def refusals(command: str) -> Iterator[None]:
    """It leaves with 2 and says why; SIGTERM ends it as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except _REASONS as error:
        typer.echo(f"drillyard {command}: {error}", err=True)
        raise typer.Exit(int(Exit.REFUSED)) from None
    except OSError as error:  # such as a full disk: what was kept is not the whole run
        kept = f"{error.filename or 'the run'} cannot be kept: {error.strerror or error}"
        typer.echo(f"drillyard {command}: {kept}", err=True)
        raise typer.Exit(int(Exit.REFUSED)) from None
    except KeyboardInterrupt:
        raise typer.Exit(int(Exit.INTERRUPTED)) from None
    finally:
        signal.signal(signal.SIGTERM, before)
