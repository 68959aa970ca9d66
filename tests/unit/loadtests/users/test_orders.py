"""What a Locust process is to play where somebody starts it by hand."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from loadtests.domain.drill import Drill
from loadtests.run_folder import RUNS
from loadtests.target import Target, TargetRefused
from loadtests.users.orders import orders


def by_hand(data: Path, **other: object) -> Namespace:
    usual = {"host": None, "keys_file": "", "scenario": "", "not_local": "", "num_users": 3, "turns": 2, "think": 0.5}
    return Namespace(data=str(data), **{**usual, "allowance": 1.0, "seed": 7, "rows": "", **other})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    ready = {"base_url": "http://127.0.0.1:8080", "keys": {"trainees": ["dy_1"]}, "scenarios": [{"id": "s-1"}]}
    (tmp_path / "ready.json").write_text(json.dumps(ready))
    return tmp_path


def test_the_options_make_the_drill_and_replicas_its_pace(data: Path) -> None:
    asked: list[Target] = []

    def four_times(target: Target) -> float:
        asked.append(target)
        return 4.0

    given = orders(by_hand(data), {}, speed_up_of=four_times)
    assert given.drill == Drill(
        trainees=3, turns=(2, 2), think_s=0.5, allowance_s=1.0, lobby_s=1.0, reaction_s=0.0, scenario="s-1",
        speed_up=4.0, seed=7,
    )  # fmt: skip
    assert given.by_hand
    assert [each.base_url for each in asked] == [given.aim.base_urls[0]] == ["http://127.0.0.1:8080"]


def test_real_replicas_have_our_pace(data: Path) -> None:
    assert orders(by_hand(data), {}, speed_up_of=lambda _: None).drill.speed_up == 1.0


def test_its_rows_lie_where_they_were_asked_for_or_beside_the_ledger(data: Path) -> None:
    def rows(asked: str) -> Path:
        return orders(by_hand(data, rows=asked), {}, speed_up_of=lambda _: None).folder.path

    assert rows("here") == Path("here")
    assert rows("").parent.parent == RUNS.parent
    assert RUNS not in rows("").parents


def test_what_is_lacking_is_said_in_locusts_own_options(data: Path, tmp_path: Path) -> None:
    with pytest.raises(TargetRefused, match="or give --host, --keys-file and --scenario"):
        orders(by_hand(tmp_path / "nowhere"), {}, speed_up_of=lambda _: None)
    keys = tmp_path / "keys"
    keys.write_text("dy_2")
    with pytest.raises(TargetRefused, match="give --scenario, the id of one"):
        orders(by_hand(data, host="http://127.0.0.1:9", keys_file=str(keys)), {}, speed_up_of=lambda _: None)


def test_another_host_is_refused_before_it_is_asked_anything(data: Path) -> None:
    def never(_: Target) -> float:
        raise AssertionError("asked")

    with pytest.raises(TargetRefused, match="is not this machine"):
        orders(by_hand(data, host="http://192.0.2.1"), {}, speed_up_of=never)
