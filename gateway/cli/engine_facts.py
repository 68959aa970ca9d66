"""The flags that versions of `vllm serve` take: those that are bundled, and those of an environment, which is asked."""

import json
import subprocess
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from gateway.cli.failure import CommandFailed
from router.fleet.domain.vllm_flags import EngineFacts, UnusableFacts, engine_facts

FOLDER: Final = "engine_flags"
ASKED_WITHIN_S: Final = 180.0
"""Importing vLLM takes some seconds, and a minute from a cold disk."""


def bundled_versions() -> tuple[str, ...]:
    """Oldest first."""
    names = (entry.name for entry in (files("gateway.cli") / FOLDER).iterdir())
    found = (name.removeprefix("vllm-").removesuffix(".json") for name in names if name.startswith("vllm-"))
    return tuple(sorted(found, key=lambda version: [int(part) for part in version.split(".")]))


def bundled_facts(version: str | None = None) -> EngineFacts:
    """Of the newest, or of a version such as 0.32 or 0.32.1: flags change with the second figure."""
    known = bundled_versions()
    wanted = known[-1] if version is None else ".".join(version.split(".")[:2])
    if wanted not in known:
        raise CommandFailed(
            f"the flags of vLLM {version} are not known, only those of {', '.join(known)}",
            advice="name an environment that has it by --vllm-env",
        )
    return engine_facts(json.loads((files("gateway.cli") / FOLDER / f"vllm-{wanted}.json").read_text(encoding="utf-8")))


def facts_of_environment(folder: Path) -> EngineFacts:
    """`folder` is a virtual environment with vLLM in it; its own parser is asked."""
    python = folder / "bin" / "python"
    with tempfile.TemporaryDirectory() as place, as_file(files("gateway.cli") / "vllm_recorder.py") as recorder:
        record = Path(place) / "flags.json"
        try:
            ended = subprocess.run(  # noqa: S603 - the interpreter of an environment that the operator names
                (str(python), "-I", str(recorder), str(record)),
                capture_output=True,
                text=True,
                check=False,
                timeout=ASKED_WITHIN_S,
                cwd=place,
            )
        except OSError as error:
            raise CommandFailed(
                f"{python} cannot be run: {error.strerror}", advice="name a virtual environment"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise CommandFailed(f"{folder} did not tell its flags within {ASKED_WITHIN_S:.0f} s") from error
        if ended.returncode or not record.exists():
            said = ended.stderr.strip().splitlines()[-1:] or ["it says nothing"]
            raise CommandFailed(f"{folder} does not tell the flags of its vLLM: {said[0]}")
        return _read(record)


def _read(record: Path) -> EngineFacts:
    try:
        return engine_facts(json.loads(record.read_text(encoding="utf-8")))
    except (ValueError, UnusableFacts) as error:
        raise CommandFailed(f"what the environment told of its flags cannot be read: {error}") from error
