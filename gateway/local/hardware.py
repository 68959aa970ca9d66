"""What this machine can run vLLM on: its cores, its instruction set, its GPUs."""

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from gateway.local.errors import PlatformUnsupported

_HINT = "use --replica-kind none and point DRILLYARD_REPLICAS at vLLM servers that run elsewhere"
_ASK_S = 20.0
_OLDEST_GLIBC = (2, 28)
_PYTHONS = ((3, 11), (3, 14))


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    system: str
    processor: str
    python: tuple[int, int]
    glibc: tuple[int, int]
    cpu_flags: frozenset[str]


def this_machine() -> Machine:
    return Machine(
        system=platform.system(),
        processor=platform.machine(),
        python=(sys.version_info.major, sys.version_info.minor),
        glibc=_glibc(),
        cpu_flags=_cpu_flags(Path("/proc/cpuinfo")),
    )


def require_cpu_build(machine: Machine) -> None:
    """Say which wheel is missing before two minutes are spent on finding out."""
    reasons = {
        f"it runs {machine.system} on {machine.processor}": (machine.system, machine.processor) != ("Linux", "x86_64"),
        "its C library is older than glibc 2.28": machine.glibc < _OLDEST_GLIBC,
        "its processor has no AVX2": "avx2" not in machine.cpu_flags,
        f"this is Python {machine.python[0]}.{machine.python[1]}": not _PYTHONS[0] <= machine.python <= _PYTHONS[1],
    }
    for reason, holds in reasons.items():
        if holds:
            raise PlatformUnsupported(
                "vLLM for CPU comes for Python 3.11 to 3.14 on x86-64 Linux with AVX2 and glibc 2.28; "
                f"this machine cannot use it: {reason}",
                hint=_HINT,
            )


def usable_cores() -> tuple[int, ...]:
    return tuple(sorted(os.sched_getaffinity(0)))


def available_memory_gib(meminfo: Path = Path("/proc/meminfo")) -> float:
    lines = (line.split() for line in meminfo.read_text().splitlines())
    return next(int(words[1]) / 2**20 for words in lines if words[0] == "MemAvailable:")


def gpus() -> tuple[str, ...]:
    """The indices that CUDA_VISIBLE_DEVICES takes, empty without an NVIDIA driver that answers."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    try:
        listed = subprocess.run(  # noqa: S603  found on the PATH, no foreign words
            [program, "-L"], capture_output=True, text=True, timeout=_ASK_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return gpu_indices(listed.stdout) if listed.returncode == 0 else ()


def gpu_indices(listing: str) -> tuple[str, ...]:
    lines = (line for line in listing.splitlines() if line.startswith("GPU "))
    return tuple(line.removeprefix("GPU ").split(":", 1)[0] for line in lines)


def _glibc() -> tuple[int, int]:
    name, version = platform.libc_ver()
    parts = version.split(".")
    return (int(parts[0]), int(parts[1])) if name == "glibc" and len(parts) > 1 else (0, 0)


def _cpu_flags(cpuinfo: Path) -> frozenset[str]:
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        return frozenset()
    return next((frozenset(line.split()) for line in lines if line.startswith("flags")), frozenset())
