import json
from pathlib import Path

import pytest

from gateway.cli.connection import (
    Connection,
    StaffConnection,
    connection,
    instructor_connection,
    keys_of,
    operator_connection,
    read_ready,
)
from gateway.cli.failure import CommandFailed

KEY = "dy_one_secret"


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    ready = {
        "base_url": "http://127.0.0.1:9/",
        "keys": {"operator": "dy_op_secret", "instructor": "dy_in_secret", "trainees": [KEY]},
        "scenarios": [{"id": "aa", "locale": "zh-CN"}, {"id": "bb", "locale": "en"}],
        "database_url": "postgresql://me@127.0.0.1/x",
        "replicas": [{"id": "r", "pid": 7}],
    }
    (tmp_path / "ready.json").write_text(json.dumps(ready))
    return tmp_path


def test_the_running_stack_is_the_default(stack: Path) -> None:
    found = connection(base_url=None, keys=(), data=stack)
    assert found == Connection("http://127.0.0.1:9", (KEY,), "aa", "dy_in_secret")


def test_options_come_before_the_running_stack(stack: Path) -> None:
    found = connection(base_url="https://drills.example/", keys=("dy_two_secret",), data=stack)
    assert found == Connection("https://drills.example", ("dy_two_secret",), None)


def test_a_key_alone_goes_to_the_running_stack(stack: Path) -> None:
    assert connection(base_url=None, keys=("dy_two_secret",), data=stack).base_url == "http://127.0.0.1:9"


def test_the_stacks_own_address_may_be_given_without_a_key(stack: Path) -> None:
    assert connection(base_url="http://127.0.0.1:9", keys=(), data=stack).keys == (KEY,)


def test_the_stacks_keys_go_to_no_other_server(stack: Path) -> None:
    with pytest.raises(CommandFailed, match=r"no API key for https://drills\.example"):
        connection(base_url="https://drills.example", keys=(), data=stack)


def test_staff_have_keys_of_their_own(stack: Path) -> None:
    assert operator_connection(base_url=None, key=None, data=stack) == StaffConnection(
        "http://127.0.0.1:9", "dy_op_secret"
    )
    assert instructor_connection(base_url=None, key=None, data=stack).key == "dy_in_secret"
    assert instructor_connection(base_url=None, key="dy_my_secret", data=stack).key == "dy_my_secret"
    with pytest.raises(CommandFailed, match="no instructor's key for https://drills"):
        instructor_connection(base_url="https://drills.example", key=None, data=stack)


def test_no_server_at_all_is_answered_with_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="make demo"):
        connection(base_url=None, keys=(), data=tmp_path)


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://host", "http://", "http://host:99999", "http://[::1"])
def test_what_is_no_address_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="no address of a server"):
        connection(base_url=url, keys=(KEY,), data=tmp_path)


@pytest.mark.parametrize("key", ["dy_密_钥", "dy one", "dy_a\n"])
def test_a_key_that_no_header_can_carry_is_refused_unrepeated(key: str, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed) as refused:
        connection(base_url="http://host", keys=(key,), data=tmp_path)
    assert key not in str(refused.value)


@pytest.mark.parametrize("text", ["", "[]", '{"keys": {"trainees": ["dy_one_secret"]}}', "\x00"])
def test_a_broken_ready_file_is_told_without_its_content(text: str, tmp_path: Path) -> None:
    (tmp_path / "ready.json").write_text(text)
    with pytest.raises(CommandFailed, match="start the stack again") as refused:
        read_ready(tmp_path)
    assert "secret" not in str(refused.value)


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandFailed, match="is no folder"):
        read_ready(tmp_path / "file")
    (tmp_path / "ready.json").mkdir()
    with pytest.raises(CommandFailed, match="cannot be read"):
        read_ready(tmp_path)


def test_keys_never_show_in_a_connections_text(stack: Path) -> None:
    assert "secret" not in repr(connection(base_url=None, keys=(), data=stack))


def test_a_keys_file_adds_to_the_keys_given(tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    path.write_text(f"# trainees\n{KEY}  # li wei\n\ndy_two_secret\n")
    assert keys_of(["dy_three_secret"], path) == ("dy_three_secret", KEY, "dy_two_secret")
    assert keys_of(None, None) == ()


def test_a_keys_file_without_keys_or_none_at_all_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing\n")
    with pytest.raises(CommandFailed, match="has no key"):
        keys_of(None, tmp_path / "empty")
    with pytest.raises(CommandFailed, match="cannot be read"):
        keys_of(None, tmp_path / "missing")
