"""Which server a command talks to and with which keys: options, environment, else the stack running here."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from gateway.cli.failure import CommandFailed
from gateway.local.places import Places

DEFAULT_DATA = Path(".drillyard")
START_ONE = "start one with `make demo`"

BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", envvar="DRILLYARD_BASE_URL", help="The server; by default the one running from --data."),
]
OneKey = Annotated[
    str | None, typer.Option("--key", envvar="DRILLYARD_API_KEY", help="An API key: dy_...", show_default=False)
]
ManyKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--key", envvar="DRILLYARD_API_KEY", help="An API key of a trainee; may be repeated.", show_default=False
    ),
]
KeysFile = Annotated[
    Path | None, typer.Option("--keys-file", help="Trainees' API keys, one a line; # begins a comment.")
]
DataFolder = Annotated[
    Path, typer.Option("--data", help="The folder of a running `drillyard up`; its ready.json names server and keys.")
]


class ReadyKeys(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    trainees: tuple[str, ...] = ()
    instructor: str | None = None
    operator: str | None = None


class ReadyScenario(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    locale: str = ""


class Ready(BaseModel):
    """What a running stack says about itself."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    base_url: str
    keys: ReadyKeys = ReadyKeys()
    scenarios: tuple[ReadyScenario, ...] = ()
    database_url: str | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    base_url: str
    keys: tuple[str, ...] = field(repr=False)
    default_scenario: str | None = None
    instructor_key: str | None = field(default=None, repr=False)
    """For what trainees may not see; only a running stack of our own names one."""


def connection(*, base_url: str | None, keys: tuple[str, ...], data: Path) -> Connection:
    """Server and trainee keys. The ready file's keys are used only for the very server it names."""
    chosen, ready = _server(base_url, data, has_keys=bool(keys))
    held = keys or (ready.keys.trainees if ready is not None else ())
    if not held:
        raise CommandFailed(f"no API key for {chosen}", advice="give --key or set DRILLYARD_API_KEY")
    for key in held:
        _check_key(key)
    default = ready.scenarios[0].id if ready is not None and ready.scenarios else None
    return Connection(chosen, held, default, ready.keys.instructor if ready is not None else None)


@dataclass(frozen=True, slots=True)
class StaffConnection:
    """For what one person with a key of the right role may do."""

    base_url: str
    key: str = field(repr=False)


def operator_connection(*, base_url: str | None, key: str | None, data: Path) -> StaffConnection:
    """Server and an operator's key, found as for trainees."""
    chosen, ready = _server(base_url, data, has_keys=bool(key))
    return _staff(chosen, key or (ready.keys.operator if ready is not None else None), "operator")


def instructor_connection(*, base_url: str | None, key: str | None, data: Path) -> StaffConnection:
    """Server and an instructor's key, found as for trainees."""
    chosen, ready = _server(base_url, data, has_keys=bool(key))
    return _staff(chosen, key or (ready.keys.instructor if ready is not None else None), "instructor")


def _staff(server: str, key: str | None, role: str) -> StaffConnection:
    if not key:
        raise CommandFailed(f"no {role}'s key for {server}", advice="give --key or set DRILLYARD_API_KEY")
    _check_key(key)
    return StaffConnection(server, key)


def _server(base_url: str | None, data: Path, *, has_keys: bool) -> tuple[str, Ready | None]:
    """The server's address, and what the stack of the folder says if it is that very server."""
    ready = None if base_url and has_keys else read_ready(data)
    chosen = (base_url or (ready.base_url if ready is not None else "")).rstrip("/")
    if not chosen:
        raise CommandFailed(
            f"no server is running here: there is no {Places(data).ready}", advice=f"{START_ONE} or give --base-url"
        )
    _check_url(chosen)
    return chosen, ready if ready is not None and ready.base_url.rstrip("/") == chosen else None


def read_ready(data: Path) -> Ready | None:
    """What the stack of this folder says, or None when none has got ready there."""
    path = Places(data).ready
    try:
        return Ready.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise CommandFailed(f"{data} is no folder", advice="give the folder of `drillyard up` as --data") from None
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        # Never the error itself: it quotes the file, and the file holds keys.
        raise CommandFailed(f"{path} is not what `drillyard up` writes", advice="start the stack again") from error


def keys_of(given: list[str] | None, keys_file: Path | None) -> tuple[str, ...]:
    """The keys of the options; a file adds to them."""
    return (*(given or ()), *(_lines(keys_file) if keys_file is not None else ()))


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"the keys file {path} cannot be read: {error}") from error
    found = [line for raw in text.splitlines() if (line := raw.partition("#")[0].strip())]
    if not found:
        raise CommandFailed(f"the keys file {path} has no key")
    return found


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise CommandFailed(f"{url!r} is no address of a server", advice="write it as http://127.0.0.1:8080")


def _check_key(key: str) -> None:
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise CommandFailed("an API key holds a character that no key has", advice="copy it again: dy_...")
