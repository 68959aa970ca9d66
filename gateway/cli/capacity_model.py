"""The models that `drillyard capacity` knows by name, and any other by its `config.json`."""

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

from gateway.cli.failure import CommandFailed
from gateway.cli.printable import printable
from router.fleet.domain.model_config import ModelConfig, UnusableConfig, model_config

FACTS: Final = "model_facts.json"
LARGEST_CONFIG_BYTES: Final = 1_000_000
_SUFFIX: Final = "-instruct"


def known_models() -> Mapping[str, Mapping[str, object]]:
    told: Mapping[str, Mapping[str, object]] = json.loads((files("gateway.cli") / FACTS).read_text())
    return told


def found_model(asked: str) -> ModelConfig:
    """By name, without regard to case, maker and "-Instruct"; else from a folder or a file."""
    known = known_models()
    wanted = _short(asked)
    for name, told in known.items():
        if _short(name) == wanted:
            return model_config(name, told)
    path = Path(asked)
    file = path / "config.json" if path.is_dir() else path
    if not file.is_file():
        raise CommandFailed(
            f"no model {asked!r} is known and no such file is there",
            advice=f"name one of {', '.join(known)}, or a folder with a config.json",
        )
    return _from_file(file)


def _from_file(file: Path) -> ModelConfig:
    try:
        if file.stat().st_size > LARGEST_CONFIG_BYTES:
            raise CommandFailed(f"{file} is too large for a config.json")
        told = json.loads(file.read_bytes())
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise CommandFailed(f"{file} is no JSON") from error
    if not isinstance(told, dict):
        raise CommandFailed(f"{file} holds no JSON object")
    try:
        return model_config(_told_name(file), told)
    except UnusableConfig as error:
        raise CommandFailed(f"{file}: {error}") from error


def _told_name(file: Path) -> str:
    """The folder's name, fit for a terminal and for one line of a profile."""
    return " ".join(printable(file.resolve().parent.name).split()) or "model"


def _short(name: str) -> str:
    return name.casefold().rpartition("/")[2].removesuffix(_SUFFIX)
