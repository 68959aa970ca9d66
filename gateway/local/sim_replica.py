"""How one simulated replica is run: a process of the load drills, which speaks vLLM's API without a GPU."""

from dataclasses import dataclass
from pathlib import Path

from gateway.local.bundled_model import Model
from gateway.local.children import Service
from gateway.local.our_python import our_module
from gateway.local.process import Command
from gateway.local.vllm_replica import HOST, missing

_MODULE = "loadtests.simulator"
_DEADLINE_S = 60.0
_LONGEST_LOAD_S = 300.0  # simulated; a profile says how long its replicas load, and is not read here
_GRACE_S = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """How fast and large a simulated replica is, by its profile, and how much faster its time passes than ours."""

    profile: str = "cpu-smollm2"
    speed_up: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What all simulated replicas of a stack have in common; the model lends its tokenizer and its name."""

    model: Model
    tuning: Tuning
    window_tokens: int
    logs: Path


def sim_service(simulation: Simulation, name: str, port: int) -> Service:
    command = sim_command(simulation, name, str(port))
    url, model = f"http://{HOST}:{port}", simulation.model.name
    return Service(
        command=command,
        waiting_for=lambda: missing(url, model),
        deadline_s=_DEADLINE_S + _LONGEST_LOAD_S / simulation.tuning.speed_up,
    )


def sim_command(simulation: Simulation, name: str, port: str) -> Command:
    return our_module(
        _MODULE,
        "serve",
        *("--host", HOST, "--port", port),
        *("--model", str(simulation.model.folder), "--served-model-name", simulation.model.name),
        *("--max-model-len", str(simulation.window_tokens)),
        *("--profile", simulation.tuning.profile, "--speed-up", str(simulation.tuning.speed_up)),
        "--enable-prompt-tokens-details",
        *("--scheduling-policy", "priority"),
        name=name,
        log=simulation.logs / f"{name}.log",
        grace_s=_GRACE_S,
    )
