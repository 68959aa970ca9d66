"""The router's keys in files of their own, which are read again on SIGHUP so that a key can be changed in service."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.cli.failure import CommandFailed
from router.http.access import Access

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class KeyFiles:
    """Where there is a file it says all keys of its kind; else those of the settings hold."""

    clients: Path | None = None
    operators: Path | None = None

    def again(self, admit: Callable[[Access], None], *, clients: list[str], operators: list[str]) -> None:
        """Read them once more; what cannot be read changes nothing."""
        try:
            new_clients = keys_in(self.clients) or clients
            new_operators = keys_in(self.operators) or operators
        except CommandFailed as failure:
            _log.warning("the keys stay as they are", detail=str(failure))
            return
        admit(Access.of(clients=new_clients, operators=new_operators))
        _log.info("keys read again", clients=len(new_clients), operators=len(new_operators))


def keys_in(file: Path | None) -> list[str] | None:
    """One a line; empty lines and those that begin with # are none. Raises `CommandFailed`."""
    if file is None:
        return None
    try:
        lines = [line.strip() for line in file.read_text().splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise CommandFailed(f"{file} cannot be read: {reason}") from error
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise CommandFailed(f"{file} holds no key")
    return keys
