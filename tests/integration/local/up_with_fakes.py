"""`drillyard up` as a program of its own, with a stand-in for the gateway and for the seed.

usage: up_with_fakes.py DATA READY_FILE [none|vllm]

FAKE_VLLM_ENV and FAKE_MODEL name an environment and a model; FAKE_SEED=hang makes the seed never end.
"""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from gateway.local.errors import LocalStackError
from gateway.local.preparation import Options, ReplicaKind
from gateway.local.progress import Progress
from gateway.local.run_stack import Run, run_stack
from gateway.local.seed import Keys, Seed, SeedScenario

SEED = Seed(
    tenant="sample",
    keys=Keys(operator="op-key", instructor="in-key", service="sv-key", trainees=("t-1", "t-2")),
    scenarios=(SeedScenario("s-1", "zh-CN"), SeedScenario("s-2", "en")),
)


def seed(_: Mapping[str, str]) -> Seed:
    while os.environ.get("FAKE_SEED") == "hang":
        time.sleep(1)
    return SEED


def _named(variable: str) -> Path | None:
    return Path(os.environ[variable]) if variable in os.environ else None


def main() -> int:
    data, ready_file, *kind = sys.argv[1:]
    options = Options(
        replica_kind=ReplicaKind(kind[0]) if kind else ReplicaKind.NONE,
        replicas=int(os.environ.get("FAKE_REPLICAS", "2")),
        model=_named("FAKE_MODEL"),
        vllm_env=_named("FAKE_VLLM_ENV"),
        window_tokens=4096,
        host="127.0.0.1",
        port=int(os.environ.get("FAKE_PORT", "0")),
        gateway_module="tests.integration.local.fake_gateway",
    )
    console = Console()
    run = Run(
        options=options,
        data=Path(data),
        ready_file=_named("FAKE_READY") or Path(ready_file),
        seed=seed,
        caller=dict(os.environ),
        progress=Progress(console=console),
        announce=lambda ready: console.print(f"ready at {ready.base_url}"),
    )
    try:
        return 0 if run_stack(run) else 130
    except LocalStackError as error:
        console.print(f"failed: {type(error).__name__}: {error.message} | {error.hint} | {error.log}", soft_wrap=True)
        return 1


if __name__ == "__main__":
    sys.exit(main())
