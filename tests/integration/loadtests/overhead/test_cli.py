"""The whole bench, small: it starts what it measures, checks what it hears, and leaves nothing behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from loadtests.overhead.cli import main

_ROOT = Path(__file__).parents[4]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="it needs two cores")
def test_the_router_is_measured_beside_the_engine_itself(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    few = "--rounds 1 --seconds 0.3 --course many --course chunks --only direct --only drillyard"
    done = subprocess.run(
        (sys.executable, "-m", "loadtests.overhead", *few.split(), "--json", str(file)),
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    assert "| drillyard |" in done.stdout
    found = json.loads(file.read_text())
    assert {(each["target"], each["course"]) for each in found["figures"]} == {
        (target, course) for target in ("direct", "drillyard") for course in ("many", "chunks")
    }
    assert all(each["rate"] > 0 and not each["faults"] for each in found["figures"])


def test_rivals_are_not_looked_for_on_the_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "vllm-router"]) == 2
    assert "--peers-venv" in capsys.readouterr().err
