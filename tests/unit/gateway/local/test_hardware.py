import stat
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.local.errors import PlatformUnsupported
from gateway.local.hardware import (
    Machine,
    available_memory_gib,
    gpu_indices,
    gpus,
    require_cpu_build,
    this_machine,
    usable_cores,
)

GOOD = Machine(
    system="Linux", processor="x86_64", python=(3, 11), glibc=(2, 36), cpu_flags=frozenset({"avx2", "avx512f"})
)


def test_a_usual_machine_is_taken() -> None:
    require_cpu_build(GOOD)


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        (replace(GOOD, system="Darwin", processor="arm64"), "runs Darwin on arm64"),
        (replace(GOOD, processor="aarch64"), "runs Linux on aarch64"),
        (replace(GOOD, glibc=(2, 17)), "older than glibc"),
        (replace(GOOD, glibc=(0, 0)), "older than glibc"),
        (replace(GOOD, cpu_flags=frozenset({"sse4_2"})), "no AVX2"),
        (replace(GOOD, python=(3, 15)), "Python 3.15"),
    ],
)
def test_a_machine_without_a_wheel_is_refused_with_the_reason(machine: Machine, reason: str) -> None:
    with pytest.raises(PlatformUnsupported, match=reason) as told:
        require_cpu_build(machine)
    assert "--replica-kind none" in told.value.hint


def test_this_machine_is_described() -> None:
    machine = this_machine()
    assert machine.system == "Linux"
    assert machine.python >= (3, 11)
    assert usable_cores()
    assert available_memory_gib() > 0


def test_the_cards_are_numbered_as_the_driver_numbers_them() -> None:
    listing = (
        "GPU 0: NVIDIA H200 (UUID: GPU-1)\n  MIG 1g.18gb Device 0: (UUID: MIG-2)\nGPU 1: NVIDIA H200 (UUID: GPU-3)\n"
    )
    assert gpu_indices(listing) == ("0", "1")


def driver(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")


def test_a_driver_that_answers_is_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver(tmp_path, "echo 'GPU 0: NVIDIA L4 (UUID: GPU-1)'", monkeypatch)
    assert gpus() == ("0",)


def test_a_driver_that_fails_means_no_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver(tmp_path, "echo 'GPU 0: NVIDIA L4'; exit 9", monkeypatch)
    assert gpus() == ()


def test_no_driver_means_no_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpus() == ()
