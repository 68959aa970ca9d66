"""Under which circumstances a drill was played: code, versions, machine."""

import os
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_PACKAGES = ("drillyard", "locust", "hdrhistogram")
_GIT_PATIENCE_S = 5.0


def code_facts() -> dict[str, object]:
    """The revision, where this is a git folder, and whether something differs from it."""
    found: dict[str, object] = {name: _version(name) for name in _PACKAGES}
    revision = _git("rev-parse", "HEAD")
    if revision:
        found |= {"revision": revision, "is_changed": bool(_git("status", "--porcelain", "--untracked-files=no"))}
    return found | {"python": platform.python_version()}


def machine_facts() -> dict[str, object]:
    return {
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu": _cpu_model(_read("/proc/cpuinfo")) or platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_mb": _memory_mb(_read("/proc/meminfo")),
    }


def load_average() -> list[float]:
    return [round(each, 2) for each in os.getloadavg()]


def _cpu_model(text: str) -> str | None:
    return next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")), None)


def _memory_mb(text: str) -> int | None:
    fields: Mapping[str, str] = dict(line.partition(":")[::2] for line in text.splitlines())
    words = fields.get("MemTotal", "").split()
    return round(int(words[0]) * 1024 / 1e6) if words else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(*words: str) -> str | None:
    """What git says, None when there is none of it, or it is no folder of its own (an installed package)."""
    if not (_ROOT / ".git").exists():
        return None
    try:
        done = subprocess.run(  # noqa: S603  a command of ours
            ["git", "-C", str(_ROOT), *words],  # noqa: S607  whichever git the path has
            capture_output=True,
            text=True,
            check=False,
            timeout=_GIT_PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _read(file: str) -> str:
    try:
        return Path(file).read_text()
    except OSError:
        return ""
