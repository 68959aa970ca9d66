"""Under which circumstances a drill was played."""

import re
from pathlib import Path

import pytest

from loadtests.conduct import facts
from loadtests.conduct.facts import code_facts, load_average, machine_facts


def test_the_revision_is_that_of_this_folder_where_it_is_one_of_git() -> None:
    found = code_facts()
    assert found["locust"]
    if (Path(facts.__file__).parents[2] / ".git").exists():
        assert re.fullmatch("[0-9a-f]{40}", str(found["revision"]))
        assert isinstance(found["is_changed"], bool)


def test_elsewhere_there_is_no_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(facts, "_ROOT", tmp_path)
    assert "revision" not in code_facts()
    (tmp_path / ".git").mkdir()  # of a git that cannot say anything
    assert "revision" not in code_facts()


def test_the_machine() -> None:
    found = machine_facts()
    assert str(found["kernel"]).startswith("Linux")
    assert isinstance(found["cpus"], int)
    assert found["cpus"] >= 1
    assert isinstance(found["memory_mb"], int)
    assert found["memory_mb"] > 100
    assert found["cpu"]


def test_the_load_has_three_averages() -> None:
    assert len(load_average()) == 3


def test_a_machine_that_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_read", lambda _: "")
    assert machine_facts()["memory_mb"] is None
    assert machine_facts()["cpu"]
