"""One change, whole regression, played on simulated replicas: the same is nothing new, a slower card is worse."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from loadtests.cli.load import app
from tests.support.simulator_process import simulator

pytestmark = pytest.mark.alone

SPEED_UP = ("--speed-up", "4")
SUITE = """
drills:
- name: talk
  shape: long-output
  trainees: 12
  turns: [2, 2]
  reply_tokens: 24
  think_s: 0.2
  allowance_s: 0.5
  lobby_s: 0.5
  reaction_s: 1
  targets: {failure_share: 0.2, beyond: 1, ttft_p95_s: 20, ttft_planned_p95_s: 20, e2e_p95_s: 40, goodput_share: null,
            cold_share: null, client_lag_p99_s: null}
- name: never
  shape: long-output
  faults: ["kill@1:replica-1"]
"""


def regress(url: str, folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    suite = folder / "mine.yaml"
    suite.write_text(SUITE)
    aimed = ["--suite", str(suite), "--base-url", url, "--folder", str(folder / "runs"), *SPEED_UP, "--json"]
    told = CliRunner().invoke(app, ["regress", *aimed, *words])
    return told.exit_code, json.loads(told.stdout)


def test_a_slower_card_is_found_by_its_drill_and_a_failed_drill_does_not_stop_the_rest(tmp_path: Path) -> None:
    with simulator(*SPEED_UP, "--profile", "48gb-14b-after") as after:
        code, first = regress(after.url, tmp_path, "--accept", "--change", "none")
    with simulator(*SPEED_UP, "--profile", "48gb-14b-before") as before:
        slower_code, slower = regress(before.url, tmp_path, "--only", "talk", "--change", "the card of before")
    talk, never = first["drills"]
    assert (code, first["accepted"], talk["verdict"], talk["worse"]) == (1, True, "passed", [])
    assert never["failure"] == "`drillyard up` does not run this fleet on this machine"
    (found,) = slower["drills"]
    assert (slower_code, found["baseline"]) == (1, talk["runs"])
    assert {each["name"] for each in found["worse"]} >= {"tpot_p50_s", "e2e_p50_s"}
    assert found["better"] == []

    listed = json.loads(CliRunner().invoke(app, ["list", "--json", "--folder", str(tmp_path / "runs")]).stdout)
    assert [each["run"] for each in listed] == [*found["runs"], *talk["runs"]]
    assert [each["fleet"] for each in listed] != [listed[0]["fleet"]] * 2
