"""A Postgres cluster on disk: where it lies, its password, and that a half-made one is never taken for whole."""

import hashlib
import os
import secrets
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from gateway.local import process_table
from gateway.local.account import Account, can_enter, give, unprivileged
from gateway.local.children import Children
from gateway.local.errors import AlreadyRunning
from gateway.local.postgres_programs import open_place, programs
from gateway.local.private_file import write_private
from gateway.local.process import POLL_S, Command

SUPERUSER = "drillyard"
_ORIGIN = "made-for"
_LEFTOVERS_END_WITHIN_S = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """`home` holds the data folder and the password; it lies elsewhere than asked for when it has to."""

    home: Path
    programs: Path
    account: Account | None
    password: str = field(repr=False)

    @property
    def data(self) -> Path:
        return self.home / "cluster"


def prepared(folder: Path, *, log: Path, fsync: bool, children: Children) -> Cluster:
    """Make the cluster if it is not there, and wait until no server of an earlier run uses it."""
    account = unprivileged()
    home = _home(folder.resolve(), account)
    cluster = Cluster(home=home, programs=programs(account), account=account, password=_password(home, account))
    if not cluster.data.exists():
        _make(cluster, log=log, fsync=fsync, children=children)
    _await_leftovers(cluster, children)
    return cluster


def _home(folder: Path, account: Account | None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if can_enter(account, folder):
        return folder
    place = open_place()
    _sweep(place)
    # The same folder always leads to the same home, so a restart finds its data.
    home = place / f"data-{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
    home.mkdir(exist_ok=True)
    home.chmod(0o755)
    (home / _ORIGIN).write_text(str(folder))
    (folder / "the-cluster-lies-in").write_text(f"{home}\n")
    return home


def _sweep(place: Path) -> None:
    """Remove clusters whose own folder is gone: nobody can come back for them."""
    for home in place.glob("data-*"):
        note = home / _ORIGIN
        if note.is_file() and not Path(note.read_text()).exists():
            shutil.rmtree(home, ignore_errors=True)


def _password(home: Path, account: Account | None) -> str:
    file = home / "password"
    if not file.exists():
        write_private(file, secrets.token_urlsafe(24), owner=account)  # initdb reads it with that account's rights
    return file.read_text()


def _make(cluster: Cluster, *, log: Path, fsync: bool, children: Children) -> None:
    workshop = Path(tempfile.mkdtemp(prefix="building-", dir=cluster.home))
    give(workshop, cluster.account)
    argv = [
        str(cluster.programs / "initdb"),
        f"--pgdata={workshop / 'cluster'}",
        f"--username={SUPERUSER}",
        f"--pwfile={cluster.home / 'password'}",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--no-instructions",
        *([] if fsync else ["--no-sync"]),
    ]
    command = Command(
        name="initdb",
        argv=tuple(argv),
        log=log,
        env=plain_environment(),
        cwd=cluster.home,
        account=cluster.account,
    )
    try:
        children.run(command, hint="free some disk space, or remove the data folder to start afresh")
        (workshop / "cluster").rename(cluster.data)
    finally:
        shutil.rmtree(workshop)


def plain_environment() -> dict[str, str]:
    """Nothing of the caller's: a PG* variable or a translated message would change what the programs do."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _await_leftovers(cluster: Cluster, children: Children) -> None:
    """A killed supervisor's server is stopping by itself; a killed server's own children may linger a moment."""
    deadline = time.monotonic() + _LEFTOVERS_END_WITHIN_S
    while lingering := process_table.working_in(cluster.data, program="postgres"):
        if time.monotonic() > deadline:
            raise AlreadyRunning(
                f"a Postgres server (pid {lingering[0]}) already uses {cluster.data}",
                hint="stop it, or use another data folder",
            )
        children.checkpoint()
        time.sleep(POLL_S)
    # With nobody left the lock file means nothing, and its number may by now belong to a stranger.
    (cluster.data / "postmaster.pid").unlink(missing_ok=True)
