"""The whole gateway as a target, small: every turn goes the whole way, and nothing is left behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tiny_model import tiny_model

_ROOT = Path(__file__).parents[4]


@pytest.mark.alone
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="it needs two cores")
def test_whole_turns_are_measured_beside_the_engine_itself(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    few = "--rounds 1 --seconds 0.5 --course turn-one --only direct --only drillyard-gateway"
    folder = str(tiny_model(tmp_path / "model"))
    done = subprocess.run(
        (sys.executable, "-m", "loadtests.overhead", *few.split(), "--model-folder", folder, "--json", str(file)),
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    assert "| drillyard-gateway |" in done.stdout
    found = {(each["target"], each["course"]): each for each in json.loads(file.read_text())["figures"]}
    assert set(found) == {("direct", "turn-one"), ("drillyard-gateway", "turn-one")}
    assert all(each["answers"] > 0 and not each["faults"] for each in found.values())
    assert found["drillyard-gateway", "turn-one"]["memory_mb"] > found["direct", "turn-one"]["memory_mb"]
