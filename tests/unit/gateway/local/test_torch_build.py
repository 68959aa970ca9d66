import json
from pathlib import Path

import pytest

from gateway.local.errors import LocalStackError
from gateway.local.torch_build import Build, build_in


def report_of(folder: Path, version: str, *needs: str) -> Path:
    file = folder / "report.json"
    metadata = {"name": "torch", "version": version, "requires_dist": ["filelock", *needs]}
    file.write_text(json.dumps({"version": "1", "install": [{"metadata": metadata}]}))
    return file


@pytest.mark.parametrize(
    ("version", "needs", "build"),
    [
        ("2.13.0+cpu", (), Build.CPU),
        ("2.13.0", ('nvidia-cudnn-cu13==9.15; platform_system == "Linux"',), Build.CUDA),
        ("2.13.0", ('cuda-bindings==13.0; platform_system == "Linux"',), Build.CUDA),
        ("2.13.0+cu130", ("nvidia-cublas==13.0",), Build.CUDA),
        ("2.13.0", (), Build.CPU),
    ],
)
def test_a_build_is_known_by_its_version_and_what_it_needs(
    tmp_path: Path, version: str, needs: tuple[str, ...], build: Build
) -> None:
    assert build_in(report_of(tmp_path, version, *needs)) is build


@pytest.mark.parametrize("text", ["", "{}", '{"install": []}', '{"install": [3]}', '{"install": [{"metadata": {}}]}'])
def test_a_report_that_cannot_be_read_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(LocalStackError, match="did not say which torch"):
        build_in(tmp_path / "report.json")


def test_a_build_with_cuda_asks_for_more_room_everywhere() -> None:
    assert Build.CUDA.kept_gib > Build.CPU.kept_gib
    assert Build.CUDA.passing_gib > Build.CPU.passing_gib
