"""One real replica from its environment to its last process."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from gateway.local import process_table
from gateway.local.bundled_model import bundled_model
from gateway.local.cache import cache_folder
from gateway.local.children import Children, Service
from gateway.local.free_port import free_port
from gateway.local.hardware import gpus, usable_cores
from gateway.local.http_probe import ask
from gateway.local.ledger import Ledger
from gateway.local.process import Child
from gateway.local.progress import Progress
from gateway.local.stack import LISTS
from gateway.local.temporary_folder import temporary_folder
from gateway.local.vllm_environment import Installer, vllm_environment
from gateway.local.vllm_replica import ReplicaPlan, Serving, replica_service, spread

pytestmark = pytest.mark.vllm


@pytest.fixture
def children() -> Iterator[Children]:
    family = Children()
    yield family
    family.stop_all()


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    with temporary_folder(tmp_path / "note") as folder:
        yield folder


@pytest.fixture
def serving(temporary: Path, children: Children, tmp_path: Path) -> Serving:
    installer = Installer(
        lists=LISTS,
        cache=cache_folder(tmp_path),
        logs=tmp_path / "logs",
        children=children,
        progress=Progress(console=Console()),
    )
    return Serving(
        environment=vllm_environment(installer, gpu=bool(gpus())),
        model=bundled_model(installer),
        window_tokens=2048,
        home=tmp_path / "home",
        temporary=temporary,
        logs=tmp_path / "logs",
    )


@pytest.fixture
def plan() -> ReplicaPlan:
    (place,) = spread(1, cores=usable_cores(), gpus=gpus())
    return ReplicaPlan(id="replica-1", port=free_port(), place=place)


def loaded(service: Service, children: Children) -> tuple[Child, set[int]]:
    """A replica that serves, and the numbers of all its processes."""
    child = children.start(service.command)
    children.await_ready([(service, child)])
    return child, {one.pid for one in process_table.members(child.pid)}


def test_a_replica_counts_cached_tokens_and_leaves_no_process_when_it_stops(
    serving: Serving, plan: ReplicaPlan, children: Children
) -> None:
    child, family = loaded(replica_service(plan, serving, caller=os.environ), children)
    assert len(family) > 1
    words = " ".join(f"point {number} of the price list," for number in range(60))
    body = {"model": serving.model.name, "messages": [{"role": "user", "content": words}], "max_tokens": 1}
    answers = [ask(f"{plan.url}/v1/chat/completions", body=body, timeout_s=60) for _ in range(2)]
    assert all(answer.is_good for answer in answers)
    assert '"cached_tokens":0' not in answers[1].text.replace(" ", "")
    children.stop([child])
    assert not family & {one.pid for one in process_table.living()}


def test_descendants_of_a_server_that_was_killed_are_found_and_ended(
    serving: Serving, plan: ReplicaPlan, children: Children, tmp_path: Path
) -> None:
    child, family = loaded(replica_service(plan, serving, caller=os.environ), children)
    ledger = Ledger(tmp_path / "pids.json")
    ledger.note([child])
    os.kill(child.pid, signal.SIGKILL)
    # What the next start does after this one was killed as well.
    ledger.end_leftovers()
    assert not family & {one.pid for one in process_table.living()}
