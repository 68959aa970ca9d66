"""`drillyard fleet weights`: has a model's weights on this machine before a replica starts."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr, ValidationError

from gateway.cli.failure import CommandFailed
from gateway.wiring.fleet_weights import listed_folder, weights_cache, weights_source
from router.fleet.domain.weights_list import LIST_NAME, WeightsList, in_words, size_in_words
from router.fleet.errors import WeightsUnusable
from router.fleet.settings import WeightsSettings

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard fleet weights ./qwen --list\n\n"
    "  drillyard fleet weights s3://models/qwen --digest sha256:9f86... --into /models/qwen\n\n"
    "  drillyard fleet weights hub:owner/name@main --hub https://hub.example --list\n\n"
    f"A source is a folder at s3://, gs://, az://, https:// or file:// with a {LIST_NAME} in it, or "
    "hub:owner/name@revision. The digest is that of the list, as --list prints it; with it the weights are the same "
    "wherever they come from. --list of a folder of this machine reads all of it and writes the list; of any other "
    "source it shows what that says of itself.\n\n"
    "What was broken off is gone on with; where all is there nothing is asked of the source. Leaves with 0 once "
    "all is there and right, else with 1: then nothing half can be taken for the whole."
)
_SAY_EVERY_S = 5.0
_WRONG = {
    "digest": "--digest is written sha256: and 64 hexadecimal digits",
    "hub": "--hub is an http:// or https:// address",
}


def weights(  # noqa: PLR0913 - one argument for each option of the command line
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Where the weights are.")],
    *,
    digest: Annotated[str | None, typer.Option(metavar="sha256:HEX", help="Of the list of their files.")] = None,
    into: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder they are to be in.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Read every byte of what is there.")] = False,
    list_asked: Annotated[bool, typer.Option("--list", help="Print the list of the files, and its digest.")] = False,
    hub: Annotated[str, typer.Option(metavar="URL", envvar="HF_ENDPOINT", help="The address of the hub.")] = "",
    hub_token: Annotated[
        str | None, typer.Option(envvar="HF_TOKEN", help="For what is not public there.", show_envvar=True)
    ] = None,
) -> None:
    """Fetch a model's weights into a folder and check them, or list them."""
    try:
        with _ended_by_ctrl_c():
            if list_asked:
                _print(_listed(source, hub, hub_token or ""))
            else:
                _fetch(_told(source, digest, into, hub, hub_token), verify=verify)
    except WeightsUnusable as error:
        raise CommandFailed(str(error), advice=_advice(source, hub)) from error


@contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """At once: Python would wait for the store's client, and that for a silent server. What is there can be gone on
    with.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _told(source: str, digest: str | None, into: Path | None, hub: str, token: str | None) -> WeightsSettings:
    if digest is None or into is None:
        raise CommandFailed("--digest and --into are missing", advice="or give --list, to learn the digest")
    try:
        return WeightsSettings(
            source=source, digest=digest, folder=into, hub=hub, hub_token=None if token is None else SecretStr(token)
        )
    except ValidationError as error:
        raise CommandFailed("; ".join(_WRONG[str(fault["loc"][0])] for fault in error.errors())) from error


def _fetch(told: WeightsSettings, *, verify: bool) -> None:
    with weights_cache(told) as cache:
        cache.ensure(told=_progress(), verify=verify)
    typer.echo(f"{told.folder} holds {told.digest}")


def _listed(source: str, hub: str, token: str) -> WeightsList:
    if ":" not in source:
        return listed_folder(Path(source))
    with weights_source(source, hub=hub, hub_token=token) as found:
        return found.files()


def _print(listed: WeightsList) -> None:
    """The list as it is written, so that it may be sent into a file; the rest beside it."""
    typer.echo(listed.text, nl=False)
    size = sum(file.size or 0 for file in listed.files)
    typer.echo(f"{len(listed.files)} files, {size_in_words(size)}", err=True)
    typer.echo(listed.digest, err=True)


def _progress() -> Callable[[int, int], None]:
    """Now and then a line; on a terminal one line that changes."""
    is_terminal = sys.stderr.isatty()
    said_at = time.monotonic()

    def told(done: int, total: int) -> None:
        nonlocal said_at
        now = time.monotonic()
        if now - said_at < (0.2 if is_terminal else _SAY_EVERY_S):
            return
        said_at = now
        words = in_words(done, total) if total else "another process works on the folder"
        sys.stderr.write(f"\r{words}  " if is_terminal else f"{words}\n")
        sys.stderr.flush()

    return told


def _advice(source: str, hub: str) -> str | None:
    if source.startswith("hub:") and not hub:
        return "say so with --hub or HF_ENDPOINT"
    return None
