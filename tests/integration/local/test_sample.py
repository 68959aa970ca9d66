"""The sample data is put into a real database once, and its keys open the door."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.domain.access import Role, presented, principal
from gateway.local.errors import LocalStackError
from gateway.local.sample import TRAINEES, last_line, seed
from gateway.wiring.authoring import administration
from tests.support.tiny_model import tiny_model


@pytest.fixture
def environment(tmp_path: Path, database_url: str) -> Mapping[str, str]:
    return {
        **os.environ,
        "DRILLYARD_REDIS_URL": "redis://127.0.0.1:1/0",
        "DRILLYARD_DATABASE_URL": database_url,
        "DRILLYARD_MODEL__NAME": "tiny",
        "DRILLYARD_MODEL__FOLDER": str(tiny_model(tmp_path / "model")),
    }


async def test_seeding_twice_gives_the_same_keys_and_scenarios(
    environment: Mapping[str, str], tmp_path: Path, database_url: str
) -> None:
    keys_file = tmp_path / "keys.json"
    first = seed(environment, keys_file=keys_file)
    assert seed(environment, keys_file=keys_file) == first
    assert first.tenant == "sample"
    assert [scenario.locale for scenario in first.scenarios] == ["en-US", "zh-CN"]
    assert len(set(first.keys.trainees)) == TRAINEES
    assert keys_file.stat().st_mode & 0o077 == 0
    async with administration(database_url) as admin:
        for key, role in ((first.keys.instructor, Role.INSTRUCTOR), (first.keys.trainees[-1], Role.TRAINEE)):
            shown = presented(f"Bearer {key}")
            assert principal(shown, await admin.keys.find(shown.id), now=admin.clock.now()).role is role


@pytest.mark.parametrize("spoiled", ["", "{}", json.dumps({"keys": {"operator": "dy_abc_nonsense"}}), None])
def test_keys_that_no_longer_open_are_made_anew(
    environment: Mapping[str, str], tmp_path: Path, spoiled: str | None
) -> None:
    keys_file = tmp_path / "keys.json"
    first = seed(environment, keys_file=keys_file)
    if spoiled is None:
        keys_file.unlink()
    else:
        keys_file.write_text(spoiled)
    second = seed(environment, keys_file=keys_file)
    assert second.keys.operator != first.keys.operator
    assert second.scenarios == first.scenarios
    if spoiled is None:  # for the third time: an account has two living keys at most
        keys_file.unlink()
        assert seed(environment, keys_file=keys_file).keys.operator not in (first.keys.operator, second.keys.operator)


def test_what_is_logged_on_the_way_does_not_mix_with_the_answer(environment: Mapping[str, str], tmp_path: Path) -> None:
    away = {**environment, "DRILLYARD_GUARD__URL": "http://127.0.0.1:1", "DRILLYARD_GUARD__MODEL": "guard"}
    assert seed(away, keys_file=tmp_path / "keys.json").tenant == "sample"


def test_a_database_that_is_away_is_one_line(environment: Mapping[str, str], tmp_path: Path) -> None:
    away = {**environment, "DRILLYARD_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    with pytest.raises(LocalStackError, match="the sample data cannot be written") as caught:
        seed(away, keys_file=tmp_path / "keys.json")
    assert "\n" not in str(caught.value)


def test_the_last_line_that_says_something_is_the_reason() -> None:
    assert last_line("Traceback\n\nValueError: no\n \n") == "ValueError: no"
    assert last_line("") == "no reason was given"
