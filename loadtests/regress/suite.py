"""A suite of drills, as a YAML file has it: each drill with what differs from its shape's own, and its targets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from loadtests.domain.drill import Affinity, Crowd, Drill, Shape, Wire, drill_of
from loadtests.domain.soundness import complaints
from loadtests.domain.targets import DEFAULT, Targets, UnusableTargets, targets_at
from loadtests.domain.usual_drills import DEFAULTS

_SHIPPED = files("loadtests.regress") / "suites"
_OWN = frozenset({"name", "shape", "targets"})
_KINDS: Mapping[object, type | tuple[type, ...]] = {
    int: int,
    float: (int, float),
    str: str,
    int | None: (int, type(None)),
    Wire: str,
    Affinity: str,
    Crowd: dict,
}
"""What YAML has for each kind of field of `Drill`; of all others, lists."""
_FIELDS = {each.name: each.type for each in fields(Drill)}


class UnusableSuite(ValueError):
    """A text that is no suite; `complaints` are all of them, each with its line."""

    def __init__(self, complaints: tuple[str, ...]) -> None:
        super().__init__("; ".join(complaints))
        self.complaints = complaints


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    name: str
    drill: Drill
    targets: Targets


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    name: str
    items: tuple[Item, ...]


def shipped() -> list[str]:
    return sorted(each.name.removesuffix(".yaml") for each in _SHIPPED.iterdir() if each.name.endswith(".yaml"))


def load_suite(name: str) -> Suite:
    """A shipped one by its name, or that of a file; raises `UnusableSuite`."""
    if name in shipped():
        return read_suite((_SHIPPED / f"{name}.yaml").read_text("utf-8"), name=name)
    try:
        text = Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        known = ", ".join(shipped())
        raise UnusableSuite((f"{name} is neither a suite that can be read nor one of: {known}",)) from None
    return read_suite(text, name=Path(name).stem)


def read_suite(text: str, *, name: str) -> Suite:
    """Raises `UnusableSuite` with every complaint."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise UnusableSuite((f"not YAML: {' '.join(str(error).split())}",)) from None
    found: list[str] = []
    items = [item for each in _drills(node, found) if (item := _item(each, found)) is not None]
    names = [item.name for item in items]
    found += [
        f"{each}: two drills have this name" for each in sorted({each for each in names if names.count(each) > 1})
    ]
    if found:
        raise UnusableSuite(tuple(found))
    return Suite(name=name, items=tuple(items))


def _drills(node: yaml.Node | None, found: list[str]) -> list[yaml.MappingNode]:
    wanted = "expected `drills:` and under it a list of drills, each with a name and a shape"
    top = _entries(node) if isinstance(node, yaml.MappingNode) else {}
    listed = top.get("drills")
    if set(top) != {"drills"} or not isinstance(listed, yaml.SequenceNode) or not listed.value:
        found.append(wanted)
        return []
    strange = [each for each in listed.value if not isinstance(each, yaml.MappingNode)]
    found += [f"line {_line(each)}: {wanted}" for each in strange]
    return [each for each in listed.value if isinstance(each, yaml.MappingNode)]


def _item(node: yaml.MappingNode, found: list[str]) -> Item | None:
    told = _entries(node)
    where, before = f"line {_line(node)}", len(found)
    values = {name: _plain(each) for name, each in told.items()}
    if len(told) < len(node.value):
        found.append(f"{where}: a drill says something twice")
    name, shape = values.get("name"), values.get("shape")
    if not isinstance(name, str) or not name or any(each.isspace() for each in name):
        found.append(f"{where}: a drill needs a name, one word")
    if shape not in tuple(Shape):
        found.append(f"{where}: a drill needs a shape, one of {', '.join(Shape)}")
        return None
    targets = _targets(told.get("targets"), found)
    given = {field: value for field, value in values.items() if field not in _OWN}
    found += [f"{where}: {each}" for each in _misfits(given)]
    if len(found) > before:
        return None
    drill = _drill(Shape(str(shape)), given, where, found)
    return None if drill is None else Item(name=str(name), drill=drill, targets=targets)


def _drill(shape: Shape, given: Mapping[str, Any], where: str, found: list[str]) -> Drill | None:
    base = DEFAULTS[shape].drill.as_json()
    crowd = {**_mapping(base["crowd"]), **_mapping(given.get("crowd"))}
    # A drill of 5 seconds and one of 5.0 are the same, and so must their digests be.
    told = {name: float(value) if _FIELDS[name] is float else value for name, value in given.items()}
    try:
        drill = drill_of({**base, **told, "crowd": crowd})
        found += [f"{where}: {each}" for each in complaints(drill)]
    except (TypeError, ValueError) as error:
        found.append(f"{where}: {error}")
        return None
    return drill


def _targets(node: yaml.Node | None, found: list[str]) -> Targets:
    if node is None:
        return DEFAULT
    try:
        return targets_at(node)
    except UnusableTargets as error:
        found += error.complaints
        return DEFAULT


def _misfits(given: Mapping[str, object]) -> Iterator[str]:
    shares = {each.name for each in fields(Crowd)}
    for name, value in given.items():
        if name not in _FIELDS:
            yield f"{name}: no drill has this"
        elif not isinstance(value, _KINDS.get(_FIELDS[name], list)) or isinstance(value, bool):
            yield f"{name}: {value!r} is of another kind"
        elif isinstance(value, dict) and not all(each in shares and _is_number(part) for each, part in value.items()):
            yield f"{name}: expected shares of {', '.join(sorted(shares))}"
        elif isinstance(value, list) and not all(isinstance(each, str) or _is_number(each) for each in value):
            yield f"{name}: expected a list of words or numbers"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(node: yaml.Node) -> Any:
    """The value that a node stands for."""
    return yaml.safe_load(yaml.serialize(node, Dumper=yaml.SafeDumper))


def _entries(node: yaml.MappingNode) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
