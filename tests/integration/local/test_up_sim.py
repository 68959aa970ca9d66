"""A whole stack on simulated replicas, by the one command: started, played by a class, stopped."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.tiny_model import tiny_model

ROOT = Path(__file__).parents[3]
START_S = 60.0


def test_a_class_plays_on_simulated_replicas(tmp_path: Path) -> None:
    model, data = tiny_model(tmp_path / "tiny"), tmp_path / "data"
    (model / "config.json").write_text("{}")
    program = [sys.executable, "-m", "gateway.cli.main"]
    words = ["--replica-kind", "sim", "--replicas", "2", "--speed-up", "50", "--model", str(model), "--port", "0"]
    with (tmp_path / "up.log").open("w") as log:
        up = subprocess.Popen([*program, "up", *words, "--data", str(data)], cwd=ROOT, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + START_S
        while not (data / "ready.json").exists():
            assert up.poll() is None, (tmp_path / "up.log").read_text()
            assert time.monotonic() < deadline, (tmp_path / "up.log").read_text()
            time.sleep(0.1)
        ready = json.loads((data / "ready.json").read_text())
        assert [replica["kind"] for replica in ready["replicas"]] == ["sim", "sim"]
        report = tmp_path / "drill.json"
        drill = ["drill", "run", "--trainees", "4", "--turns", "4", "--think", "0", "--json", str(report)]
        done = subprocess.run(
            [*program, *drill, "--data", str(data)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr
        turns = json.loads(report.read_text())["turns"]
    finally:
        up.send_signal(signal.SIGINT)
        assert up.wait(30) == 0
    homes = {
        turn["session"]: {other["replica"] for other in turns if other["session"] == turn["session"]} for turn in turns
    }
    assert sorted(len(replicas) for replicas in homes.values()) == [1, 1, 1, 1]
    late = [turn["usage"] for turn in turns if turn["turn"] >= 3]
    assert sum(u["cached_tokens"] for u in late) > 0.7 * sum(u["prompt_tokens"] for u in late)
