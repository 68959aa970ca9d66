"""What the options of a run come to."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.cli.run_order import Wanted, fleet_asked, order_of, played, read_text, targets_of
from loadtests.conduct.order import DrillFailed
from loadtests.conduct.stack import StackPlan
from loadtests.domain.ablation import Without
from loadtests.domain.drill import Affinity, Drill, Wire
from loadtests.domain.targets import DEFAULT
from loadtests.target import Asked, TargetRefused
from tests.support.pages import pages

WANTED = Wanted(drill=Drill(trainees=3, turns=(2, 2)), asked=Asked())


def test_without_affinity_the_replicas_are_aimed_at_themselves() -> None:
    found = WANTED.without(Without.AFFINITY)
    assert (found.asked.wire, found.asked.affinity) == (Wire.CHAT, Affinity.NONE)
    assert found.drill.affinity is Affinity.NONE


def test_without_compaction_a_fleet_of_ones_own_limits_no_service() -> None:
    found = replace(WANTED, fleet=StackPlan()).without(Without.COMPACTION)
    assert found.fleet is not None
    roles = json.loads(found.fleet.environment["DRILLYARD_LIMITS__ROLES"])
    assert set(roles["service"].values()) == {"unlimited"}
    assert WANTED.without(Without.COMPACTION).fleet is None


def test_without_pre_scaling_the_fleet_waits_for_the_bell() -> None:
    found = replace(WANTED, fleet=StackPlan()).without(Without.PRE_SCALING)
    assert found.fleet is not None
    assert not found.fleet.is_prescaled
    assert found.drill.faults == ("late-booking@0:3",)
    with pytest.raises(DrillFailed, match="--fleet"):
        WANTED.without(Without.PRE_SCALING)


def test_a_fleet_has_a_profile_that_can_be_played(tmp_path: Path) -> None:
    assert fleet_asked("sim:2:h200-7b", Asked()).profile == "h200-7b"
    assert fleet_asked("vllm:2", Asked()).replicas == 2
    with pytest.raises(DrillFailed, match=r"sim:2:nope: nope is neither a readable file nor one of: .*48gb-14b-after"):
        fleet_asked("sim:2:nope", Asked())
    (tmp_path / "own.json").write_text("{}")
    with pytest.raises(DrillFailed, match=r"own\.json: name"):
        fleet_asked(f"sim:2:{tmp_path}/own.json", Asked())


def test_targets_are_the_usual_ones_or_those_of_a_file(tmp_path: Path) -> None:
    assert targets_of(None) == DEFAULT
    file = tmp_path / "targets.yaml"
    file.write_text("ttft_p95_s: 2\n")
    assert targets_of(file).ttft_p95_s == 2
    file.write_text("ttft_p95: 2\ne2e_p95_s: -1\n")
    with pytest.raises(DrillFailed, match=r"(?s)line 1: ttft_p95.*line 2: e2e_p95_s"):
        targets_of(file)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DrillFailed, match="No such file"):
        read_text(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(DrillFailed, match="UTF-8"):
        read_text(tmp_path / "bytes")


def test_nothing_is_started_for_a_drill_that_makes_no_sense() -> None:
    with pytest.raises(DrillFailed, match="trainees"):
        played(replace(WANTED, drill=Drill(trainees=0), fleet=StackPlan()), say=print)


def test_without_anything_to_aim_at_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(TargetRefused, match="drillyard up"):
        played(replace(WANTED, asked=Asked(data=tmp_path)), say=print)


def test_an_operators_key_tells_how_fast_time_passes_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "keys.txt").write_text("dy_1\n")
    with pages({"/sim/state": '{"speed_up": 4.0}'}) as served:
        served.by_path["/v1/fleet"] = json.dumps({"replicas": [{"id": "replica-1", "url": served.url}]})
        asked = Asked(
            data=tmp_path, base_urls=(served.url,), keys_file=tmp_path / "keys.txt", operator_key="dy_operator"
        )
        assert order_of(replace(WANTED, asked=asked)).drill.speed_up == 4.0
        assert order_of(replace(WANTED, asked=replace(asked, operator_key=None))).drill.speed_up == 1.0


def test_a_speed_or_a_window_that_is_not_the_replicas_is_refused(tmp_path: Path) -> None:
    with pages({"/sim/state": '{"speed_up": 4.0}'}) as replica:
        ready = {
            "base_url": replica.url,
            "keys": {"trainees": ["dy_1"]},
            "replicas": [{"id": "replica-1", "url": replica.url}],
        }
        (tmp_path / "ready.json").write_text(json.dumps(ready))
        with pytest.raises(DrillFailed, match="4 times as fast as ours, not 2 times"):
            played(replace(WANTED, asked=Asked(data=tmp_path), speed_up=2.0), say=print)
        with pytest.raises(DrillFailed, match="does not answer as it should"):  # it has no scenarios, and was asked
            played(replace(WANTED, asked=Asked(data=tmp_path), speed_up=4.0), say=print)
        replica.by_path["/v1/models"] = '{"data": [{"id": "m", "max_model_len": 2048}]}'
        with pytest.raises(DrillFailed, match="window is 2048 tokens, not 4096"):
            order_of(replace(WANTED, asked=Asked(data=tmp_path), window_tokens=4096))
        drill = order_of(replace(WANTED, asked=Asked(data=tmp_path), workers=2)).drill
        assert (drill.speed_up, drill.window_tokens) == (4.0, 2048)
