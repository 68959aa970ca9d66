"""Whose rights a child runs with: Postgres refuses root, so root lends it an account that may do nothing else."""

import os
import pwd
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from gateway.local.errors import PlatformUnsupported


@dataclass(frozen=True, slots=True)
class Account:
    uid: int
    gid: int


def unprivileged() -> Account | None:
    """The account to drop to, None when we are an ordinary user already."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise PlatformUnsupported(
            "Postgres does not run as root, and this machine has no account `nobody` to run it as",
            hint="run the command as an ordinary user",
        ) from None
    return Account(uid=entry.pw_uid, gid=entry.pw_gid)


def can_enter(account: Account | None, folder: Path) -> bool:
    """Whether the account may walk down to `folder`; parts that do not exist yet are ours to make."""
    if account is None:
        return True
    path = folder.resolve()
    return all(_may_search(account, part) for part in (path, *path.parents) if part.exists())


def give(path: Path, account: Account | None) -> None:
    if account is not None:
        shutil.chown(path, account.uid, account.gid)


def _may_search(account: Account, folder: Path) -> bool:
    facts = folder.stat()
    if facts.st_uid == account.uid:
        return bool(facts.st_mode & stat.S_IXUSR)
    if facts.st_gid == account.gid:
        return bool(facts.st_mode & stat.S_IXGRP)
    return bool(facts.st_mode & stat.S_IXOTH)
