import os
import pwd
from pathlib import Path

import pytest

from gateway.local.account import Account, can_enter, give, unprivileged
from gateway.local.errors import PlatformUnsupported

STRANGER = Account(uid=54_321, gid=54_321)


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """A folder the stranger may walk into, as far as the folders above it allow."""
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    return folder


def test_an_ordinary_user_keeps_his_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert unprivileged() is None


def test_root_lends_an_account_that_is_not_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    nobody = pwd.getpwnam("nobody")
    assert unprivileged() == Account(uid=nobody.pw_uid, gid=nobody.pw_gid)


def test_a_machine_without_such_an_account_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> pwd.struct_passwd:
        raise KeyError(name)

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", unknown)
    with pytest.raises(PlatformUnsupported, match="nobody"):
        unprivileged()


def test_our_own_account_enters_everywhere(tmp_path: Path) -> None:
    assert can_enter(None, tmp_path)


def test_a_stranger_enters_what_is_open_to_all() -> None:
    assert can_enter(STRANGER, Path("/usr/lib"))


def test_one_closed_folder_on_the_way_is_enough_to_keep_a_stranger_out(open_folder: Path) -> None:
    open_folder.parent.chmod(0o700)
    assert not can_enter(STRANGER, open_folder / "not-there-yet")


def test_the_owners_and_the_groups_own_bits_count(tmp_path: Path) -> None:
    facts = tmp_path.stat()
    tmp_path.chmod(0o611)
    assert not can_enter(Account(uid=54_321, gid=facts.st_gid), tmp_path)
    tmp_path.chmod(0o611 & ~0o100 | 0o011)
    assert not can_enter(Account(uid=facts.st_uid, gid=54_321), tmp_path)
    tmp_path.chmod(0o700)


def test_giving_to_nobody_in_particular_changes_nothing(tmp_path: Path) -> None:
    before = tmp_path.stat().st_uid
    give(tmp_path, None)
    give(tmp_path, Account(uid=before, gid=tmp_path.stat().st_gid))
    assert tmp_path.stat().st_uid == before
