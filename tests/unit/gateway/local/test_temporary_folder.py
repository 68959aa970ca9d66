import tempfile
from pathlib import Path

import pytest

from gateway.local.temporary_folder import temporary_folder


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    return tmp_path / "note"


def test_it_is_private_short_and_gone_afterwards(note: Path) -> None:
    with temporary_folder(note) as folder:
        (folder / "socket").touch()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert len(folder.name) < 20
    assert not folder.exists()
    assert not note.exists()


def test_what_a_killed_run_left_is_swept_at_the_next(note: Path) -> None:
    left = note.parent / "tmp" / "drillyard-0000aaaa"
    (left / "below").mkdir(parents=True)
    note.write_text(str(left))
    with temporary_folder(note) as folder:
        assert not left.exists()
        assert folder != left
    assert list((note.parent / "tmp").iterdir()) == []


@pytest.mark.parametrize("text", [b"precious", b"tmp/drillyard-x", b"", b"\xff\x00"])
def test_a_spoiled_note_costs_nobody_a_folder(
    note: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("precious", "tmp/drillyard-x"):
        (tmp_path / name).mkdir()
    note.write_bytes(text)
    with temporary_folder(note):
        pass
    assert (tmp_path / "precious").exists()
    assert (tmp_path / "tmp" / "drillyard-x").exists()


def test_a_note_that_leads_to_a_link_does_not_cost_what_is_behind_it(note: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "drillyard-x").symlink_to(tmp_path / "precious")
    note.write_text(str(tmp_path / "drillyard-x"))
    with temporary_folder(note):
        pass
    assert (tmp_path / "precious").exists()
