"""Classes that are certified, or not, on a stack of their own."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from loadtests.certify.run_digest import run_digest
from loadtests.cli.certify import certify
from loadtests.cli.run import run
from loadtests.conduct.stack import RunningStack, StackPlan, own_stack
from loadtests.run_folder import RunFolder

pytestmark = [pytest.mark.alone, pytest.mark.redis, pytest.mark.postgres]

SHIPPED = Path(__file__).parents[3] / "loadtests/simulator/profiles/48gb-14b-after.json"
REPLY_TOKENS = 220
PACE = ["--think", "0.5", "--allowance", "0.5", "--reaction", "0.5", "--lobby", "0.5", "--scenario", "en"]


def quick_profile(folder: Path) -> Path:
    """The usual one, but for how long it loads and decodes."""
    told = json.loads(SHIPPED.read_text())
    told["start_up"]["load_s"]["value"] = 1.0
    told["decode"]["weights_ms"]["value"] = 1.0
    file = folder / "quick.json"
    file.write_text(json.dumps(told))
    return file


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    folder = tmp_path_factory.mktemp("stack")
    plan = StackPlan(replicas=3, profile=str(quick_profile(folder)), reply_tokens=REPLY_TOKENS)
    said: list[str] = []
    with own_stack(plan, say=said.append) as running:
        keys = running.ready()["keys"]
        yield running
        assert any(line.startswith("replica-1 ended (signal 9)") for line in said)
    assert isinstance(keys, dict)
    assert not any(key in line for line in said for key in (keys["operator"], keys["instructor"], *keys["trainees"]))


def called(command: Callable[..., None], stack: RunningStack, folder: Path, words: Sequence[str]) -> Result:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, [*PACE, "--data", str(stack.data), "--folder", str(folder / "runs"), *words])


def test_a_class_that_lives_through_its_faults_is_certified(stack: RunningStack, tmp_path: Path) -> None:
    page, file = tmp_path / "certificate.html", tmp_path / "certificate.json"
    faults = ["--faults", "kill@1:replica-1", "--faults", "drain@1+1:replica-2", "--faults", "redis-flush@2"]
    words = ["--class", "8", "--turns", "5", "--ttft", "5", "--price", "2", "--html", str(page), "--json", str(file)]
    result = called(certify, stack, tmp_path, [*words, *faults])
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(file.read_text())
    assert (told["answer"], told["seats"], told["drills_lost"], told["turns"]) == ("certified", 8, 0, 40)
    assert told["is_simulated"]
    assert told["cost_per_drill"] == pytest.approx(2 * told["gpu_hours_per_drill"])
    assert {each["kind"]: each["target"] for each in told["lived_through"]} == {
        "kill": "replica-1",
        "drain": "replica-2",
        "redis-flush": "redis",
    }
    assert told["valid_for"]["scenario"].endswith("version 1")
    (folder,) = (tmp_path / "runs").iterdir()
    assert told["run_digest"] == run_digest(RunFolder(folder))
    assert json.loads((folder / "certificate.json").read_text()) == told
    assert "Certified on simulated replicas: 8 seats" in page.read_text()
    assert "lived through kill of replica-1" in result.output


@pytest.mark.parametrize(
    ("without", "crowd", "missed", "reason"),
    [
        ("affinity", ["--trainees", "4", "--turns", "4"], "affinity_broken", "a replica chosen by chance"),
        (
            "compaction",
            ["--trainees", "2", "--turns", "18", "--think", "0.1", "--allowance", "0.2"],
            "failure_share",
            "no longer fits the model's window",
        ),
    ],
)
def test_a_class_without_what_makes_it_hold_fails_for_that(
    stack: RunningStack, tmp_path: Path, without: str, crowd: list[str], missed: str, reason: str
) -> None:
    targets = tmp_path / "targets.yaml"
    targets.write_text("client_lag_p99_s: null  # what is shown here is no matter of milliseconds\n")
    result = called(run, stack, tmp_path, ["class", "--without", without, "--targets", str(targets), *crowd])
    assert result.exit_code == 1, result.output
    (folder,) = map(RunFolder, (tmp_path / "runs").iterdir())
    judged = json.loads(folder.verdict.read_text())["judged"]
    assert missed in {each["target"] for each in judged if each["standing"] == "missed"}
    assert reason in result.output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--class", "4", "--faults", "kill@1", "--no-faults"], "contradict"),
        (["--class", "4", "--faults", "kill@1:replica-9"], "there is no replica-9"),
        (["--class", "4", "--fleet", "gpu:2"], "a fleet is"),
        (["--class", "4", "--base-url", "http://drills.example"], "--not-local drills.example"),
    ],
)
def test_what_cannot_be_played_leaves_with_2(stack: RunningStack, tmp_path: Path, words: list[str], why: str) -> None:
    result = called(certify, stack, tmp_path, words)
    assert (result.exit_code, why in result.output) == (2, True), result.output
