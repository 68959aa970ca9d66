"""The whole gateway as a target: sign-in, limits, moderation, sessions and records, with Redis and Postgres of its own.

The gateway has the core under test for itself; its stores are where the load is.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from loadtests.overhead.pinned import PinnedProcess, TargetFailed, pinned
from loadtests.overhead.turn_speech import Gateway
from loadtests.overhead.wire import MODEL, WINDOW_TOKENS

_LISTS = Path(__file__).parents[2] / "deploy" / "moderation"
_START_S = 90.0
_END_S = 30.0
_ASK_S = 0.1
_NO_LIMIT = "2000000000"
"""The largest there can be: limits are counted, and nobody is stopped."""
_LIMITS = ("REQUESTS_PER_MINUTE", "REQUEST_BURST", "INPUT_TOKENS_PER_MINUTE", "OUTPUT_TOKENS_PER_MINUTE")
_DRILLYARD = (sys.executable, "-m", "gateway.cli.main")


@dataclass(frozen=True, slots=True)
class WholeGateway:
    gateway: Gateway
    process: PinnedProcess


@contextmanager
def whole_gateway(
    replicas: Sequence[str], *, folder: Path, model_folder: Path, core: int, stores_core: int
) -> Iterator[WholeGateway]:
    """Entered once it takes turns. Raises `TargetFailed`."""
    data, ready = folder / "gateway", folder / "gateway-ready.json"
    ready.unlink(missing_ok=True)
    command = (
        *_DRILLYARD,
        "up",
        "--replica-kind",
        "none",
        "--port",
        "0",
        "--data",
        str(data),
        "--ready-file",
        str(ready),
    )
    log = folder / "gateway.log"
    told = os.environ | _environment(replicas, model_folder)
    with pinned(command, core=stores_core, log=log, environment=told, end_s=_END_S) as up:
        found = _awaited(ready, up, log)
        for name in ("en", "zh"):
            _put_in_force(_LISTS / f"{name}.csv", name, data)
        process = PinnedProcess(found["pids"]["gateway"])
        process.move_to(core)
        scenario = next(each["id"] for each in found["scenarios"] if each["locale"].startswith("en"))
        yield WholeGateway(Gateway(found["base_url"], found["keys"]["trainees"], scenario), process)


def _environment(replicas: Sequence[str], model_folder: Path) -> Mapping[str, str]:
    named = [{"id": f"r{number}", "url": url} for number, url in enumerate(replicas)]
    return {
        "DRILLYARD_REPLICAS": json.dumps(named),
        "DRILLYARD_MODEL__NAME": MODEL,
        "DRILLYARD_MODEL__FOLDER": str(model_folder),
        "DRILLYARD_MODEL__WINDOW_TOKENS": str(WINDOW_TOKENS),
        "DRILLYARD_LIMITS__TURNS_IN_FLIGHT": _NO_LIMIT,
        **{f"DRILLYARD_LIMITS__{name}": _NO_LIMIT for name in _LIMITS},
    }


def _awaited(ready: Path, up: PinnedProcess, log: Path) -> dict:  # type: ignore[type-arg]
    deadline = monotonic() + _START_S
    while not ready.exists():
        if not up.is_running() or monotonic() > deadline:
            raise TargetFailed(f"{log.name}\n{log.read_text(errors='replace')[-2000:]}")
        sleep(_ASK_S)
    found: dict = json.loads(ready.read_text())  # type: ignore[type-arg]
    return found


def _put_in_force(phrases: Path, name: str, data: Path) -> None:
    command = (*_DRILLYARD, "moderation", "import", str(phrases), "--name", name, "--live", "--data", str(data))
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command line
    if done.returncode:
        raise TargetFailed(f"the phrase list {name} is not in force: {done.stderr[-500:]}")
