"""Keys in files, read again while the router serves."""

from pathlib import Path

import pytest

from gateway.cli.failure import CommandFailed
from gateway.cli.key_files import KeyFiles, keys_in
from router.http.access import Access


def test_a_key_a_line(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# of the class\n\n one \ntwo\n")
    assert keys_in(file) == ["one", "two"]
    assert keys_in(None) is None


def test_a_file_without_keys_is_an_error_and_not_an_open_door(tmp_path: Path) -> None:
    empty, binary = tmp_path / "empty", tmp_path / "binary"
    empty.write_text("# nobody\n")
    binary.write_bytes(b"\xff\xfe")
    for file, why in ((empty, "holds no key"), (binary, "it is no text"), (tmp_path / "none", "No such file")):
        with pytest.raises(CommandFailed, match=why):
            keys_in(file)


def test_keys_change_while_the_router_serves(tmp_path: Path) -> None:
    clients = tmp_path / "clients"
    admitted: list[Access] = []
    files = KeyFiles(clients=clients)
    clients.write_text("new")
    files.again(admitted.append, clients=["old"], operators=["operator"])
    assert admitted == [Access.of(clients=["new"], operators=["operator"])]
    clients.write_text("")
    files.again(admitted.append, clients=["old"], operators=["operator"])
    assert len(admitted) == 1
