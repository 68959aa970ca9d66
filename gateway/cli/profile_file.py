"""Reading a vLLM profile: a YAML file with one flag a line, as `vllm serve MODEL --config FILE` takes it."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import yaml
from typing_extensions import override

from gateway.cli.failure import CommandFailed
from router.fleet.domain.vllm_flags import FlagValue

LARGEST_BYTES: Final = 1_000_000


class _Strict(yaml.SafeLoader):
    """YAML lets a key stand twice, and the last one wins in silence."""

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise yaml.MarkedYAMLError(problem=f"{twice} stands there twice", problem_mark=node.start_mark)
        return super().construct_mapping(node, deep=deep)


def read_profile(file: Path) -> dict[str, FlagValue]:
    try:
        if file.stat().st_size > LARGEST_BYTES:
            raise CommandFailed(f"{file} is too large for a profile")
        told = yaml.load(file.read_text(encoding="utf-8"), Loader=_Strict)  # noqa: S506 - a SafeLoader
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise CommandFailed(f"{file} is no YAML{_where(error)}") from error
    if not isinstance(told, dict) or not all(isinstance(name, str) for name in told):
        raise CommandFailed(f"{file} holds no flags", advice="write one a line, such as max-model-len: 4096")
    return told


def _where(error: Exception) -> str:
    if not isinstance(error, yaml.MarkedYAMLError):
        return ""
    line = f", line {error.problem_mark.line + 1}" if error.problem_mark is not None else ""
    return f"{line}: {error.problem}"
