"""The whole comparison, small, on simulated replicas: it starts what it compares, and says what was computed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from loadtests.beside.cli import main

_ROOT = Path(__file__).parents[4]


@pytest.mark.timeout(180)
def test_a_class_is_played_through_a_router_with_the_history_kept_by_the_client(tmp_path: Path) -> None:
    file = tmp_path / "beside.json"
    fleet = f"sim:2:{_quick_to_load(tmp_path / 'quick.json')}"
    out = f"--out {tmp_path / 'out'} --json {file}"
    small = f"--fleet {fleet} --only drillyard --trainees 1 --turns 2 --kills none {out}"
    done = subprocess.run(
        (sys.executable, "-m", "loadtests.beside", *small.split()),
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "| drillyard router, all messages |" in done.stdout
    (result,) = json.loads(file.read_text())["results"]
    figures = result["figures"]
    assert (figures["turns"], figures["failed"]) == (2, 0)
    # What the replicas count is what the client was told; on a busy machine the gateway asks them how they are.
    assert 0 <= result["prompts"] - figures["prompt_tokens"] < 200
    assert 0 <= result["computed"] - (figures["prompt_tokens"] - figures["cached_tokens"]) < 200
    assert result["computed"] < 0.7 * result["prompts"]


def _quick_to_load(file: Path) -> Path:
    profile = json.loads((_ROOT / "loadtests" / "simulator" / "profiles" / "cpu-smollm2.json").read_text())
    profile["start_up"]["load_s"]["value"] = 0.5
    file.write_text(json.dumps(profile))
    return file


def test_rivals_are_not_looked_for_on_the_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "vllm-router"]) == 2
    assert "--peers-venv" in capsys.readouterr().err
