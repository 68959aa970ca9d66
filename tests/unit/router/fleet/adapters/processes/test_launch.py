"""How the operator's command becomes a process."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from router.domain.fleet import ReplicaId
from router.fleet.adapters.processes.launch import NotLaunched, launch
from tests.support.process_house import ProcessHouse, process_house

TELLS = "import json, os, sys, time\nprint(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]))\ntime.sleep(600)"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[ProcessHouse]:
    async with process_house(tmp_path, engine=TELLS, slots=["3"]) as house:
        yield house


async def test_words_and_variables_are_filled_in_and_our_own_settings_kept_back(
    house: ProcessHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILLYARD_DATABASE_URL", "postgresql://secret")
    monkeypatch.setenv("OF_THE_CALLER", "kept")
    words = (*house.settings.command, "{id}", "{port}", '{"method": "{slot}"}', "{weights}/x", "{unknown}")
    house.settings = house.settings.model_copy(update={"command": words, "environment": {"CARD": "gpu {slot}"}})
    house.host = house.another()
    run = await house.started()
    argv, environment, _ = json.loads(await house.until_said("one", "\n"))
    assert argv == ["one", str(run.port), '{"method": "3"}', "/x", "{unknown}"]
    assert environment["CARD"] == "gpu 3"
    assert environment["OF_THE_CALLER"] == "kept"
    assert not [name for name in environment if name.startswith("DRILLYARD_")]


async def test_a_second_one_for_the_same_order_ends_by_itself(house: ProcessHouse) -> None:
    run = await house.started()
    one = ReplicaId("one")
    launch(one, slot="3", place=house.shelf.place(one), log=house.shelf.log(one), told=house.settings, weights="")
    assert house.run("one") == run


def test_what_no_process_can_be_given_is_refused(tmp_path: Path) -> None:
    house = ProcessHouse(tmp_path)
    told = house.settings.model_copy(update={"command": (sys.executable, "\0")})
    with pytest.raises(NotLaunched, match="null"):
        launch(ReplicaId("one"), slot="a", place=tmp_path / "x", log=tmp_path / "log", told=told, weights="")
