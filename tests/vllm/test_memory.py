"""What the planner says of a replica's memory, beside a real replica on CPU."""

import re
from pathlib import Path

import httpx
import pytest

from gateway.cli.capacity_model import found_model
from router.fleet.domain.devices import CPU, GIB, device
from router.fleet.domain.memory_budget import CPU_BLOCK_TOKENS, MemoryBudget, ReplicaSetup, memory_budget
from tests.vllm.conftest import RealStack

pytestmark = pytest.mark.vllm

KV_GIB = 1
"""As `drillyard up` starts a replica on CPU."""


def predicted(model_folder: str) -> MemoryBudget:
    """The budget of a device on which exactly that much KV is left."""
    on = device(CPU)
    assert on is not None
    budget = memory_budget(
        ReplicaSetup(
            model=found_model(model_folder),
            device=on,
            window_tokens=4096,
            max_num_seqs=128,
            max_num_batched_tokens=2048,
            utilisation=(KV_GIB + 2.5) * GIB / on.memory_bytes,
        )
    )
    assert budget.kv_bytes == KV_GIB * GIB
    return budget


def family(pid: int) -> set[int]:
    """A process and all that it started."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The command's name stands in brackets and may hold anything.
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def proportional_bytes(pid: int) -> int:
    told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return 1024 * int(re.findall(r"^Pss:\s+(\d+) kB", told, re.MULTILINE)[0])


def test_a_replicas_memory_and_its_pool_are_as_planned(stack: RealStack) -> None:
    replica = stack.ready["replicas"][0]
    url = replica["url"].rstrip("/")
    with httpx.Client(base_url=url, trust_env=False, timeout=180) as client:
        (model,) = client.get("/v1/models").json()["data"]
        metrics = client.get("/metrics").text
        prompt = {"model": model["id"], "prompt": "word " * 1500, "max_tokens": 2}
        assert client.post("/v1/completions", json=prompt).is_success
    (labels,) = re.findall(r"^vllm:cache_config_info\{(.*)\}", metrics, re.MULTILINE)
    cache = dict(re.findall(r'(\w+)="([^"]*)"', labels))
    if int(cache["block_size"]) != CPU_BLOCK_TOKENS:
        pytest.skip("this replica runs on a GPU, whose activations are an estimate")
    budget = predicted(model["root"])
    assert int(cache["num_gpu_blocks"]) == budget.pool.blocks
    taken = sum(proportional_bytes(pid) for pid in family(replica["pid"]))
    assert taken == pytest.approx(budget.weight_bytes + budget.runtime_bytes + budget.kv_bytes, rel=0.1)
