"""Whom a worker aims at, as its file says."""

from pathlib import Path

from loadtests.users.aim import Aim, read_aim


def test_an_aim_is_read_and_keys_are_shared_out(tmp_path: Path) -> None:
    file = tmp_path / "aim.json"
    told = Aim(
        base_urls=("http://x",), keys=("a", "b"), service_key="s", scenario="c", replicas={"http://y": "r"}, bell_at=7.0
    )
    file.write_text(told.as_json())
    aim = read_aim(file)
    assert aim == told
    assert [aim.key_of(trainee) for trainee in range(3)] == ["a", "b", "a"]
    assert aim.chat_key_of(1) == "s"


def test_without_a_service_a_trainee_chats_with_the_own_key_or_with_none() -> None:
    assert Aim(base_urls=(), keys=("a",)).chat_key_of(3) == "a"
    assert Aim(base_urls=()).chat_key_of(3) is None


def test_keys_do_not_show() -> None:
    assert "secret" not in repr(Aim(base_urls=(), keys=("secret",), service_key="secret"))
