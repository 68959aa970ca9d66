"""Writes a file that only its owner may read, whole or not at all."""

import os
from pathlib import Path

from gateway.local.account import Account, give


def write_private(file: Path, text: str, *, owner: Account | None = None) -> None:
    """`owner` None: us."""
    fresh = file.with_name(f"{file.name}.{os.getpid()}.new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write(text)
    give(fresh, owner)
    fresh.replace(file)
