"""A load drill from its order to its verdict, before a real gateway."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.conduct.conductor import conduct
from loadtests.conduct.order import DrillFailed, Exit, Order
from loadtests.domain.drill import Drill
from loadtests.domain.server import EventKind
from loadtests.domain.targets import Targets
from loadtests.domain.verdict import Whole
from loadtests.run_files import read_drill, read_events, read_object, read_processes, read_replicas, read_rows
from loadtests.run_folder import RunFolder
from loadtests.target import Asked, target
from tests.support.gateway_process import World, world
from tests.support.postgres_fixture import PostgresTemplate
from tests.support.ready_world import write_ready

ROOT = Path(__file__).parents[4]
DRILL = Drill(
    trainees=4, turns=(2, 2), think_s=0.5, allowance_s=0.5, lobby_s=1.0, reaction_s=0.5, scenario="en", speed_up=2.0
)
LENIENT = Targets(
    ttft_p95_s=None, ttft_planned_p95_s=None, bell_ttft_p95_s=None, e2e_p95_s=None, goodput_share=None,
    failure_share=None, cold_share=None, client_lag_p99_s=None,
)  # fmt: skip


pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, postgres_template: PostgresTemplate) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    with postgres_template.copy() as url, world(folder, url, engines=2) as made:
        for engine in made.engines.values():
            engine.script(reply="one two three four five", delay_s=0.01)
        yield made


def order(installation: World, folder: Path, drill: Drill = DRILL) -> Order:
    data = write_ready(installation, folder / "data")
    aim = target(Asked(data=data, scenario=drill.scenario))
    return Order(drill=drill, target=aim, folder=RunFolder(folder / "runs" / "one"), targets=LENIENT)


def test_a_class_is_played_watched_and_judged(installation: World, tmp_path: Path) -> None:
    said: list[str] = []
    asked = order(installation, tmp_path)
    outcome = conduct(replace(asked, facts={"fleet": "of the test"}), say=said.append)
    figures, folder = outcome.figures, outcome.folder
    assert (figures.turns, figures.failed, figures.completed) == (8, 0, 4)
    assert (outcome.verdict.whole, outcome.exit_code, outcome.void) == (Whole.PASSED, Exit.PASSED, None)
    assert said[0].startswith("class: 4 trainees, 8 turns in 4 sessions")
    assert "8 of 8 turns" in said[-1]

    assert read_drill(folder) == DRILL
    facts = read_object(folder.facts)
    assert (facts["fleet"], facts["incomplete"]) == ("of the test", None)
    assert read_object(folder.figures)["turns"] == 8
    assert read_object(folder.verdict)["whole"] == "passed"
    assert folder.report.read_text().startswith("<!doctype html>")
    assert [each.kind for each in read_events(folder)] == [EventKind.BELL, EventKind.END]
    assert {each.replica for each in read_replicas(folder)} == set(installation.engines)
    assert {each.name for each in read_processes(folder)} >= {"gateway", "locust"}
    played = {row.session for row in read_rows(folder)}
    assert len(played) == 4
    assert played <= sessions(installation)
    everything = "".join(file.read_text(errors="replace") for file in folder.path.iterdir())
    assert not [key for key in installation.seed.keys.trainees if key in everything]

    with pytest.raises(DrillFailed, match="there already"):
        conduct(asked, say=said.append)


def sessions(installation: World) -> set[str]:
    with installation.client(installation.seed.keys.instructor) as client:
        return {session["id"] for session in client.get("/v1/sessions").json()["items"]}


def test_what_cannot_be_played_is_refused_before_anybody_is_asked(installation: World, tmp_path: Path) -> None:
    asked, before = order(installation, tmp_path), sessions(installation)
    for drill, why in (
        (replace(DRILL, trainees=0), "trainees"),
        (replace(DRILL, turns=(2, 500)), "ends after"),
        (replace(DRILL, faults=("nonsense",)), "a fault is written"),
        (replace(DRILL, faults=("drain@5000:replica-1",)), "after the last message"),
        (replace(DRILL, faults=("kill@1:replica-9",)), "replica-9"),
    ):
        with pytest.raises(DrillFailed, match=why):
            conduct(replace(asked, drill=drill), say=print)
    with pytest.raises(DrillFailed, match="no scenario"):
        conduct(order(installation, tmp_path, replace(DRILL, scenario="tlh")), say=print)
    assert not asked.folder.path.exists()
    assert sessions(installation) == before


def locusts() -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and b"locust" in read(folder / "cmdline"):
            yield int(folder.name)


def environment(pid: int) -> bytes:
    return read(Path(f"/proc/{pid}/environ"))


def read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_was_measured_until_ctrl_c_is_kept(installation: World, tmp_path: Path) -> None:
    data = write_ready(installation, tmp_path / "data")
    words = ["load", "run", "class", "--trainees", "4", "--turns", "40", "--think", "0.3", "--allowance", "0.2"]
    words += ["--lobby", "1", "--reaction", "0.2", "--scenario", "en", "--data", str(data)]
    command = [sys.executable, "-m", "gateway.cli.main", *words, "--folder", str(tmp_path / "runs"), "--json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        until(lambda: any(each.stat().st_size > 4000 for each in tmp_path.glob("runs/*/rows-0.jsonl")))
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    told = json.loads(out)
    assert told["incomplete"] == "it was interrupted"
    assert told["figures"]["turns"] > 0
    folder = RunFolder(Path(told["folder"]))
    assert read_object(folder.facts)["incomplete"] == "it was interrupted"
    assert [each.kind for each in read_events(folder)][-1] is EventKind.END
    assert not [pid for pid in locusts() if str(folder.path).encode() in environment(pid)]
