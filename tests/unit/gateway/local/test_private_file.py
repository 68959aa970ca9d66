import os
from pathlib import Path

from gateway.local.account import Account
from gateway.local.private_file import write_private


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    write_private(tmp_path / "keys", "secret")
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "keys").read_text() == "secret"


def test_an_open_file_is_replaced_by_a_private_one(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("old")
    file.chmod(0o644)
    write_private(file, "new")
    assert (file.stat().st_mode & 0o777, file.read_text()) == (0o600, "new")
    assert list(tmp_path.iterdir()) == [file]


def test_it_is_given_to_the_account_that_has_to_read_it(tmp_path: Path) -> None:
    write_private(tmp_path / "password", "secret", owner=Account(uid=os.geteuid(), gid=os.getegid()))
    facts = (tmp_path / "password").stat()
    assert (facts.st_uid, facts.st_gid, facts.st_mode & 0o777) == (os.geteuid(), os.getegid(), 0o600)
