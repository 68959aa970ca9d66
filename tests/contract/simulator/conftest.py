"""The two that the suite holds to the recordings: the simulator always, real vLLM where `make test-vllm` runs."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from gateway.local.bundled_model import bundled_model
from gateway.local.cache import cache_folder
from gateway.local.children import Children, Service
from gateway.local.free_port import free_port
from gateway.local.hardware import gpus, usable_cores
from gateway.local.process import Command
from gateway.local.progress import Progress
from gateway.local.stack import LISTS
from gateway.local.vllm_environment import Installer, vllm_environment
from gateway.local.vllm_replica import ReplicaPlan, Serving, missing, replica_environment, spread
from tests.support.simulator_process import SimulatorProcess, simulator

# The flags of the recordings; their block size is that of the CPU build.
_FLAGS = ("--served-model-name", "smollm2", "--max-model-len", "4096", "--enable-prompt-tokens-details")
BLOCK_TOKENS = 128
_ANSWERS = (
    {"last": "the city of lights, is", "replies": [" Paris."]},
    {"last": "capital of France?", "replies": ["The capital of France is Paris."]},
    {"last": "The capital of France is", "replies": [" Paris.\n\nThe capital of France is Paris."]},
    {"replies": [{"long": 20_000}]},
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is held to the recordings. `counts_like_the_model` when its tokens are those of the recorded model."""

    name: str
    client: httpx.Client
    counts_like_the_model: bool


@pytest.fixture(
    scope="session",
    params=[
        "simulator",
        pytest.param("simulator with the model's tokenizer", marks=pytest.mark.vllm),
        pytest.param("vllm", marks=pytest.mark.vllm),
    ],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    match request.param:
        case "vllm":
            plan: ReplicaPlan = request.getfixturevalue("real_replica")
            with httpx.Client(base_url=plan.url, timeout=120, trust_env=False) as client:
                yield Subject("vllm", client, counts_like_the_model=True)
        case "simulator":
            with simulator(*_FLAGS, "--block-size", str(BLOCK_TOKENS)) as process:
                process.script(*_ANSWERS)
                yield Subject("simulator", process.client, counts_like_the_model=False)
        case name:
            serving: Serving = request.getfixturevalue("serving")
            with simulator(*_FLAGS, "--block-size", str(BLOCK_TOKENS), "--model", str(serving.model.folder)) as process:
                process.script(*_ANSWERS)
                yield Subject(name, process.client, counts_like_the_model=True)


@pytest.fixture
def replica() -> Iterator[SimulatorProcess]:
    """One of the test's own, fast, to be broken and ended."""
    with simulator(*_FLAGS, "--max-num-seqs", "4") as process:
        yield process


@pytest.fixture(scope="session")
def children() -> Iterator[Children]:
    family = Children()
    yield family
    family.stop_all()


@pytest.fixture(scope="session")
def serving(children: Children, tmp_path_factory: pytest.TempPathFactory) -> Serving:
    folder = tmp_path_factory.mktemp("vllm")
    installer = Installer(
        lists=LISTS,
        cache=cache_folder(folder),
        logs=folder / "logs",
        children=children,
        progress=Progress(console=Console()),
    )
    return Serving(
        environment=vllm_environment(installer, gpu=bool(gpus())),
        model=bundled_model(installer),
        window_tokens=4096,
        home=folder / "home",
        temporary=folder,
        logs=folder / "logs",
    )


@pytest.fixture(scope="session")
def real_replica(children: Children, serving: Serving) -> ReplicaPlan:
    """Real vLLM with the flags of the recordings."""
    (place,) = spread(1, cores=usable_cores(), gpus=gpus())
    plan = ReplicaPlan(id="recorded", port=free_port(), place=place)
    serving.home.mkdir(parents=True, exist_ok=True)
    program = serving.environment / "bin"
    argv = (
        str(program / "python"),
        str(program / "vllm"),
        *("serve", str(serving.model.folder), "--host", "127.0.0.1", "--port", str(plan.port)),
        *(*_FLAGS, "--block-size", str(BLOCK_TOKENS), "--dtype", "bfloat16", "--enforce-eager"),
        "--disable-uvicorn-access-log",
    )
    command = Command(
        name=plan.id,
        argv=argv,
        log=Path(serving.logs) / "recorded.log",
        env=replica_environment(plan, serving, os.environ),
        cwd=serving.home,
        grace_s=4.0,
    )
    service = Service(command=command, waiting_for=lambda: missing(plan.url, "smollm2"), deadline_s=serving.deadline_s)
    child = children.start(command)
    children.await_ready([(service, child)])
    return plan
