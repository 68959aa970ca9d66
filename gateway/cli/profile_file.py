"""Reading a vLLM profile: a YAML file with one flag a line, as `vllm serve MODEL --config FILE` takes it."""

from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import yaml
from typing_extensions import override

from gateway.cli.failure import CommandFailed
from router.fleet.domain.vllm_flags import FlagValue

LARGEST_BYTES: Final = 1_000_000
MOST_FLAGS: Final = 1_000
"""More than any engine has."""


class _Strict(yaml.SafeLoader):
    """YAML lets a key stand twice, and the last one wins in silence; and a few lines of it may refer to each other
    until they stand for more than any memory holds.
    """

    @override
    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # PyYAML's own
            raise yaml.MarkedYAMLError(problem="what stands elsewhere is written out in a profile", problem_mark=mark)
        return super().compose_node(parent, index)

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        found = super().construct_mapping(node, deep=deep)
        if len(found) < len(node.value):
            keys = Counter(self.construct_object(key, deep=True) for key, _ in node.value)
            twice = keys.most_common(1)[0][0]
            raise yaml.MarkedYAMLError(problem=f"{twice} stands there twice", problem_mark=node.start_mark)
        return found


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
    if len(told) > MOST_FLAGS:
        raise CommandFailed(f"{file} holds more than {MOST_FLAGS} flags")
    return told


def _where(error: Exception) -> str:
    if not isinstance(error, yaml.MarkedYAMLError):
        return ""
    line = f", line {error.problem_mark.line + 1}" if error.problem_mark is not None else ""
    return f"{line}: {error.problem}"
