"""The pools of the fleet as a YAML file holds them: what is wrong in it is told with its line."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from router.fleet.settings import PoolSettings

_LONGEST_BYTES = 1_048_576
_MOST_TOLD = 20
_POOLS = "pools"
_ADAPTER = TypeAdapter(tuple[PoolSettings, ...])
_PREFIX = "Value error, "
_QUOTED = re.compile(r"(['\"]).{3,}\1", re.DOTALL)  # a shorter one is a character


def read_pools(path: Path) -> tuple[PoolSettings, ...]:
    """Raises `ValueError`, which names the file and the line, and never a value, since one may be a secret."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or 'it cannot be read'}") from error
    if len(raw) > _LONGEST_BYTES:
        raise ValueError(f"{path}: it is larger than {_LONGEST_BYTES} bytes")
    found, listed = _listed(path, raw)
    try:
        return _ADAPTER.validate_python(listed)
    except ValidationError as error:
        raise ValueError("; ".join(islice(_reasons(path, found, error), _MOST_TOLD))) from None


def _listed(path: Path, raw: bytes) -> tuple[yaml.Node, object]:
    """The list of pools as it stands in the file, and as values."""
    try:
        document = yaml.compose(raw, Loader=yaml.SafeLoader)
        values = yaml.safe_load(raw)
        twice = list(_twice(document, set()))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f", line {mark.line + 1}"
        raise ValueError(f"{path}{place}: this is not YAML: {_unquoted(error)}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: this is not YAML ({type(error).__name__})") from None
    if not isinstance(document, yaml.MappingNode) or set(values) != {_POOLS} or not isinstance(values[_POOLS], list):
        raise ValueError(f"{path}: it must hold one key, `pools:`, with a list of pools below it")
    if twice:
        raise ValueError(f"{path}, line {twice[0][0]}: {twice[0][1]!r} stands there twice")
    return document.value[0][1], values[_POOLS]


def _unquoted(error: yaml.MarkedYAMLError) -> str:
    """What is wrong without the word that is: a password that begins with `*` is a reference to YAML."""
    return _QUOTED.sub("…", error.problem or error.context or "")


def _reasons(path: Path, node: yaml.Node, error: ValidationError) -> Iterator[str]:
    for item in error.errors(include_url=False, include_input=False):
        place, line = _place(node, item["loc"])
        yield f"{path}, line {line}: {place}: {item['msg'].removeprefix(_PREFIX)}"


def _place(node: yaml.Node, location: tuple[int | str, ...]) -> tuple[str, int]:
    """How the place is written, and the line of the innermost part of it that stands in the file."""
    name, line = _POOLS, node.start_mark.line + 1
    for part in location:
        inner = _inner(node, part)
        if inner is None and isinstance(node, yaml.MappingNode) and _is_kind(node, part):
            continue
        name += f"[{part}]" if isinstance(part, int) else f".{part}"
        if inner is not None:
            node, line = inner[1], inner[0].start_mark.line + 1
    return name, line


def _inner(node: yaml.Node, part: int | str) -> tuple[yaml.Node, yaml.Node] | None:
    """Where this part of a node begins, and what it is."""
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == part), None)
    return None


def _is_kind(node: yaml.MappingNode, part: int | str) -> bool:
    """Which kind of host was taken for it is no part of the file."""
    return any(key.value == "kind" and value.value == part for key, value in node.value)


def _twice(node: yaml.Node | None, looked_at: set[yaml.Node]) -> Iterator[tuple[int, str]]:
    """Keys that stand in one mapping more than once, of which YAML would quietly take the last.

    A few lines that refer to each other may stand for more than can be walked through, so each is looked at once.
    """
    if node is None or node in looked_at:
        return
    looked_at.add(node)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                yield key.start_mark.line + 1, name
            seen.add(name)
            yield from _twice(value, looked_at)
    elif isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from _twice(each, looked_at)
