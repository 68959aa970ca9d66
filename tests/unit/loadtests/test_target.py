"""Load goes to this machine, unless somebody named another one twice."""

import json
from pathlib import Path

import pytest

from loadtests.target import Target, TargetRefused, require_local, target

READY = {
    "base_url": "http://127.0.0.1:8080/",
    "keys": {"trainees": ["dy_a_1", "dy_b_2"]},
    "scenarios": [{"id": "s-1", "locale": "en"}],
}


def test_a_running_stack_names_everything(tmp_path: Path) -> None:
    (tmp_path / "ready.json").write_text(json.dumps(READY))
    assert target(data=tmp_path) == Target("http://127.0.0.1:8080", ("dy_a_1", "dy_b_2"), "s-1")


def test_what_is_named_goes_before_what_runs(tmp_path: Path) -> None:
    (tmp_path / "ready.json").write_text(json.dumps(READY))
    (tmp_path / "keys.txt").write_text("# trainees\n\ndy_c_3\n")
    aim = target(data=tmp_path, base_url="http://localhost:9", keys_file=tmp_path / "keys.txt", scenario="s-2")
    assert aim == Target("http://localhost:9", ("dy_c_3",), "s-2")


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"keys": [], "scenarios": [1]}'])
def test_without_a_stack_it_says_what_to_do(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "ready.json").write_text(content)
    with pytest.raises(TargetRefused, match="drillyard up"):
        target(data=tmp_path)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost", "http://127.9.9.9"])
def test_this_machine_may_be_loaded(url: str) -> None:
    require_local(url, named=None)


@pytest.mark.parametrize("url", ["http://10.0.0.1", "https://drills.example", "http://127.0.0.1.example", "nonsense"])
def test_another_machine_only_by_its_name(url: str) -> None:
    with pytest.raises(TargetRefused):
        require_local(url, named="elsewhere")


def test_another_machine_that_was_named_on_purpose() -> None:
    require_local("https://drills.example", named="drills.example")
