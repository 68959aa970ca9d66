"""What one version of `vllm serve` takes, and what of a profile it would not: unknown flags, wrong types, no choices.

A profile is read as vLLM reads it: underscores are hyphens, `false` is `--no-...`, a table is JSON. Where vLLM is
silent, as about an unknown flag that is `false`, this is not.
"""

import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

FlagValue = str | int | float | bool | None | Sequence[object] | Mapping[str, object]
Flags = Mapping[str, FlagValue]

SECRETS: Final = frozenset({"api-key", "hf-token"})
_SIZE: Final = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)([kKmMgGtT])", re.ASCII)
_POWER: Final = "kmgt"
_WHOLE: Final = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_AUTO: Final = "auto"
_OFF: Final = "no-"
_NO_VALUE: Final = "None"


class UnusableFacts(ValueError):
    """A record of an engine's flags that says something else than it should."""


class Kind(StrEnum):
    SWITCH = "switch"
    INTEGER = "integer"
    SIZE = "size"
    """An integer, such as 8k (8000) or 8K (8192)."""
    SIZE_OR_AUTO = "size or auto"
    NUMBER = "number"
    TEXT = "text"
    JSON = "json"
    TEXT_OR_JSON = "text or json"


_TABLES: Final = (Kind.JSON, Kind.TEXT_OR_JSON)


@dataclass(frozen=True, slots=True)
class FlagFact:
    name: str
    kind: Kind
    choices: tuple[str, ...] = ()
    default: str | None = None
    aliases: tuple[str, ...] = ()
    is_list: bool = False
    has_off: bool = False
    """Whether there is a `--no-...` too."""
    may_be_none: bool = False


@dataclass(frozen=True, slots=True)
class EngineFacts:
    version: str
    flags: Mapping[str, FlagFact]
    """By their names and their other names."""


class Weight(StrEnum):
    ERROR = "error"
    """The engine does not start with it, or does not do its work."""
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    weight: Weight
    flag: str
    what: str
    advice: str


@dataclass(frozen=True, slots=True)
class ReadFlags:
    values: Flags
    """Those that are known and right, by their proper names."""
    findings: tuple[Finding, ...]


def engine_facts(told: object) -> EngineFacts:
    """As the recorder writes them."""
    version, flags = (told.get("version"), told.get("flags")) if isinstance(told, Mapping) else (None, None)
    if not isinstance(version, str) or not isinstance(flags, Mapping):
        raise UnusableFacts("it is no record of an engine's flags")
    try:
        facts = [_fact(str(name), fact) for name, fact in flags.items()]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UnusableFacts(f"it tells of a flag in words that are not known ({error})") from error
    named = {name: fact for fact in facts for name in (fact.name, *fact.aliases)}
    return EngineFacts(version.partition("+")[0], named)


def _fact(name: str, told: Mapping[str, object]) -> FlagFact:
    return FlagFact(
        name=name,
        kind=Kind(str(told["kind"])),
        choices=_texts(told.get("choices")),
        default=None if told.get("default") is None else str(told["default"]),
        aliases=_texts(told.get("aliases")),
        is_list=bool(told.get("list")),
        has_off=bool(told.get("off")),
        may_be_none=bool(told.get("none")),
    )


def _texts(told: object) -> tuple[str, ...]:
    return tuple(str(one) for one in told) if isinstance(told, list) else ()


def read_flags(written: Flags, facts: EngineFacts) -> ReadFlags:
    values: dict[str, FlagValue] = {}
    findings: list[Finding] = []
    for key, value in written.items():
        fact, is_off = _named(key, facts)
        if fact is None:
            findings.append(_unknown(key, facts))
            continue
        if fact.name in values:
            findings.append(_error(key, f"is written twice, {fact.name} too", "keep one of them"))
        wrong = _wrong(fact, value, key=key, is_off=is_off)
        if wrong is None:
            values[fact.name] = (not value) if is_off else _plain(fact, value)
        else:
            findings.append(wrong)
    return ReadFlags(values, tuple(findings))


def _named(key: str, facts: EngineFacts) -> tuple[FlagFact | None, bool]:
    """With whether it is the name that turns it off. What follows a point is a field of a table."""
    name, point, _ = key.replace("_", "-").partition(".")
    fact = facts.flags.get(name)
    if fact is not None and point and fact.kind not in _TABLES:
        return None, False
    if fact is None and not point and name.startswith(_OFF):
        positive = facts.flags.get(name.removeprefix(_OFF))
        return (positive, True) if positive is not None and positive.has_off else (None, False)
    return (FlagFact(key, Kind.TEXT_OR_JSON) if fact is not None and point else fact), False


def _unknown(key: str, facts: EngineFacts) -> Finding:
    name = key.replace("_", "-").partition(".")[0]
    near = get_close_matches(name.removeprefix(_OFF), facts.flags, n=1, cutoff=0.6)
    advice = f"did you mean {near[0]}?" if near else "leave it out, or look for it in `vllm serve --help=all`"
    return _error(key, f"is no flag of vLLM {facts.version}", advice)


def _wrong(fact: FlagFact, value: FlagValue, *, key: str, is_off: bool) -> Finding | None:
    if fact.kind is Kind.SWITCH:
        if isinstance(value, bool) and not (is_off and not value):
            return None
        return _error(key, "is on or off and takes no value", "write true or false")
    if isinstance(value, list) and not fact.is_list and fact.kind not in _TABLES:
        return _error(key, "takes one value, not a list", "write one value")
    parts = value if fact.is_list and isinstance(value, list) else [value]
    return next((found for part in parts if (found := _wrong_part(fact, part, key)) is not None), None)


def _wrong_part(fact: FlagFact, value: object, key: str) -> Finding | None:
    if isinstance(value, bool):
        return _error(
            key, f"takes a value, {_article(fact.kind)}", "a word such as on, no or true is written in quotes"
        )
    if value is None or str(value) == _NO_VALUE:
        return None if fact.may_be_none else _error(key, "has no value", "give it one, or leave it out")
    if not _is_of(fact.kind, value):
        return _error(key, f"is {_shown(fact, value)}, which is not {_article(fact.kind)}", f"write {_example(fact)}")
    if fact.choices and str(value) not in fact.choices:
        near = get_close_matches(str(value), fact.choices, n=1)
        advice = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(fact.choices)}"
        return _error(key, f"is {_shown(fact, value)}, which vLLM does not offer", advice)
    return None


def _is_of(kind: Kind, value: object) -> bool:
    match kind:
        case Kind.JSON | Kind.TEXT_OR_JSON:
            is_plain = kind is Kind.TEXT_OR_JSON and not isinstance(value, Mapping | list)
            return is_plain or (isinstance(value, str | Mapping | list) and _is_json(value))
        case Kind.TEXT:
            return not isinstance(value, Mapping)
        case Kind.SIZE_OR_AUTO:
            return str(value).casefold() == _AUTO or as_size(value) is not None
        case Kind.SIZE:
            return as_size(value) is not None
        case Kind.INTEGER:
            return isinstance(value, int) or (isinstance(value, str) and _WHOLE.fullmatch(value.strip()) is not None)
        case _:
            return as_number(value) is not None


def _is_json(value: object) -> bool:
    """A text that is JSON, or a table or list that can be written as JSON: YAML knows dates and sets too."""
    try:
        json.loads(value) if isinstance(value, str) else json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _plain(fact: FlagFact, value: FlagValue) -> FlagValue:
    """As a number where it is one."""
    if isinstance(value, list) or value is None or value == _NO_VALUE:
        return None if value == _NO_VALUE else value
    match fact.kind:
        case Kind.SIZE_OR_AUTO if str(value).casefold() == _AUTO:
            return -1
        case Kind.SIZE | Kind.SIZE_OR_AUTO | Kind.INTEGER:
            return as_size(value)
        case Kind.NUMBER:
            return as_number(value)
        case _:
            return value


def as_size(value: object) -> int | None:
    """8192, "8192", "8K" or "8.192k" alike; None: it is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    text = value.strip() if isinstance(value, str) else ""
    if _WHOLE.fullmatch(text):
        return int(text)
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    number, unit = match.groups()
    power = _POWER.index(unit.casefold()) + 1
    if unit.islower():
        return int(float(number) * 1000**power)
    return int(number) * 1024**power if "." not in number else None


def as_number(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _article(kind: Kind) -> str:
    return {
        Kind.INTEGER: "a whole number",
        Kind.SIZE: "a whole number",
        Kind.SIZE_OR_AUTO: "a whole number or auto",
        Kind.NUMBER: "a number",
        Kind.JSON: "a table or JSON",
        Kind.TEXT_OR_JSON: "a table or JSON",
    }.get(kind, "a text")


def _example(fact: FlagFact) -> str:
    if fact.default is not None:
        return f"one such as {fact.default}"
    return _article(fact.kind)


def _shown(fact: FlagFact, value: object) -> str:
    text = "a secret" if fact.name in SECRETS else str(value)
    return repr(text if len(text) <= 40 else f"{text[:39]}…")  # noqa: PLR2004 - as much as a line of a terminal bears


def _error(flag: str, what: str, advice: str) -> Finding:
    return Finding(Weight.ERROR, flag, what, advice)


def command_text(flags: Flags) -> str:
    """The command as a shell takes it."""
    return " ".join(["vllm serve MODEL", *map(shlex.quote, words(flags))])


def words(flags: Flags) -> Iterator[str]:
    """As they stand on a command line, each in one word."""
    for name, value in flags.items():
        if value is True:
            yield f"--{name}"
        elif value is False:
            yield f"--{_OFF}{name}"
        elif isinstance(value, list | tuple):
            yield f"--{name}"
            yield from (str(one) for one in value)
        elif isinstance(value, Mapping):
            yield f"--{name}={json.dumps(value)}"
        else:
            yield f"--{name}={value}"
