import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.local import postgres_cluster, postgres_programs
from gateway.local.account import unprivileged
from gateway.local.children import Children
from gateway.local.errors import AlreadyRunning, ProgramFailed
from gateway.local.postgres_cluster import Cluster, prepared
from gateway.local.postgres_server import postgres_server

pytestmark = pytest.mark.postgres

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to look for another folder")


def prepared_in(folder: Path) -> Cluster:
    return prepared(folder, log=folder / "initdb.log", fsync=False, children=Children())


@pytest.fixture
def open_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stands for the folder root keeps open to all; itself it must be one that everybody can enter."""
    place = Path("/var/tmp") / f"drillyard-test-{os.getpid()}-{tmp_path.name}"  # noqa: S108
    monkeypatch.setattr(postgres_programs, "_OPEN_PLACES", (place,))
    yield place
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    return folder


def test_a_cluster_is_made_once_and_its_password_kept_to_the_owner(tmp_path: Path) -> None:
    folder = tmp_path / "pg"
    first = prepared_in(folder)
    try:
        made_at = first.data.stat().st_ino
        second = prepared_in(folder)
        assert second == first
        assert second.data.stat().st_ino == made_at
        assert (first.home / "password").stat().st_mode & 0o777 == 0o600
        assert first.password not in repr(first)
        assert not list(first.home.glob("building-*"))
    finally:
        shutil.rmtree(first.home)


@as_root
def test_roots_closed_folder_leads_to_the_same_open_one_each_time(closed: Path, open_place: Path) -> None:
    first = prepared_in(closed / "pg")
    assert first.home.parent == open_place
    assert prepared_in(closed / "pg") == first
    assert prepared_in(closed / "other").home != first.home
    assert (closed / "pg" / "the-cluster-lies-in").read_text().strip() == str(first.home)


@as_root
def test_a_cluster_whose_folder_is_gone_is_removed(closed: Path, open_place: Path) -> None:
    gone = prepared_in(closed / "gone")
    shutil.rmtree(closed / "gone")
    kept = prepared_in(closed / "kept")
    assert not gone.home.exists()
    assert kept.home.exists()
    assert kept.home.parent == open_place


@as_root
def test_programs_that_cannot_be_reached_are_copied_with_their_libraries(
    closed: Path, open_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = postgres_programs.programs(None).parents[1]
    hidden = closed / wheel.name
    hidden.symlink_to(wheel)
    (closed / f"{wheel.name}.libs").symlink_to(wheel.with_name(f"{wheel.name}.libs"))
    monkeypatch.setattr(postgres_programs, "can_enter", lambda *_: False)
    account = unprivileged()
    copied = postgres_programs.programs(account)
    assert copied.is_relative_to(open_place)
    assert postgres_programs.programs(account) == copied
    assert not list(open_place.glob("building-*"))
    assert account is not None
    version = subprocess.run(
        [copied / "psql", "--version"],
        user=account.uid,
        group=account.gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "PostgreSQL" in version.stdout


def test_a_server_that_still_runs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_cluster, "_LEFTOVERS_END_WITHIN_S", 0.1)
    with postgres_server(tmp_path, fsync=False) as server, pytest.raises(AlreadyRunning, match=f"pid {server.pid}"):
        prepared_in(tmp_path)


def test_a_lock_file_of_a_dead_server_is_no_hindrance(tmp_path: Path) -> None:
    cluster = prepared_in(tmp_path)
    # Our own number: a living process that is no Postgres.
    (cluster.data / "postmaster.pid").write_text(f"{os.getpid()}\n{cluster.data}\n")
    with postgres_server(tmp_path, fsync=False):
        pass


def test_an_initdb_that_fails_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bin"
    broken.mkdir()
    for program in ("initdb", "postgres"):
        (broken / program).write_text("#!/bin/sh\necho 'initdb: error: nothing works'; exit 1\n")
        (broken / program).chmod(0o755)
    monkeypatch.setattr(postgres_cluster, "unprivileged", lambda: None)
    monkeypatch.setenv("DRILLYARD_POSTGRES_BIN", str(broken))
    folder = tmp_path / "pg"
    with pytest.raises(ProgramFailed, match="initdb failed: initdb: error: nothing works"):
        prepared_in(folder)
    assert not list(folder.glob("cluster*"))
    assert not list(folder.glob("building-*"))
