"""What the ledger says of one run: enough to list it, to find its like, and to know whether it may be compared."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from typing import Any

from loadtests.domain.drill import Drill
from loadtests.domain.json_values import json_object
from loadtests.run_files import RunDamaged, read_drill, read_object, write_object
from loadtests.run_folder import RunFolder

_FORMAT = 1
_MAIN = (
    "turns",
    "failed",
    "ttft.p50",
    "ttft.p95",
    "e2e.p95",
    "tpot.p50",
    "goodput_share",
    "cached_share",
    "cold_share",
    "turns_per_s",
)
_MACHINE = ("cpu", "cpus", "memory_mb")
"""The kernel is not among them: an update of it makes no other machine."""

_NO_TEXT: Mapping[str, type | tuple[type, ...]] = {
    "trainees": int,
    "is_changed": bool,
    "fleet": list,
    "figures": dict,
    "whole": (str, type(None)),
    "incomplete": (str, type(None)),
}
"""Of which kind the fields of an entry are as JSON, where they are not text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    run: str
    """The name of its folder."""
    bell_at: str
    drill: str
    """Its digest, as the next ones."""
    targets: str
    machine: str
    """Empty: not known."""
    shape: str
    wire: str
    trainees: int
    fleet: tuple[str, ...] = ()
    revision: str = ""
    is_changed: bool = False
    """The code differed from the revision."""
    whole: str | None = None
    """What the verdict says; None: there is none, since it still runs or was broken off."""
    incomplete: str | None = None
    figures: Mapping[str, float | None] = field(default_factory=dict)
    """The main ones: `ttft.p95`, `goodput_share`, ..."""

    def as_json(self) -> dict[str, object]:
        return {"format": _FORMAT, **json_object(asdict(self))}


@dataclass(frozen=True, slots=True)
class Damaged:
    """A run whose files cannot be understood."""

    run: str
    why: str

    def as_json(self) -> dict[str, object]:
        return {"run": self.run, "damaged": self.why}


def keep(folder: RunFolder) -> Entry:
    """Enter a run into the ledger, by what its folder holds; raises `RunDamaged`."""
    entry = entry_of(folder)
    write_object(folder.index, entry.as_json())
    return entry


def read_entry(folder: RunFolder) -> Entry | Damaged:
    """As it was entered, or as the folder has it where it was not yet, was renamed, or the entry cannot be read."""
    try:
        entry = _entry(read_object(folder.index))
        if entry.run == folder.path.resolve().name:
            return entry
    except (RunDamaged, ValueError):
        pass
    try:
        return entry_of(folder)
    except RunDamaged as error:
        return Damaged(folder.path.name, str(error))


def entry_of(folder: RunFolder) -> Entry:
    """Raises `RunDamaged`; what a broken run has not got is left out."""
    drill = read_drill(folder)
    facts = read_object(folder.facts)
    verdict = read_object(folder.verdict) if folder.verdict.exists() else {}
    figures = read_object(folder.figures) if folder.figures.exists() else {}
    code = _mapping(facts.get("code"))
    targets = verdict.get("targets_digest")
    return Entry(
        run=folder.path.resolve().name,
        bell_at=str(facts.get("bell_at", "")),
        drill=drill.digest,
        targets=str(targets or ""),
        machine=machine_digest(facts),
        shape=drill.shape.value,
        wire=drill.wire.value,
        trainees=trainees_of(drill),
        fleet=fleet_of(facts),
        revision=str(code.get("revision", "")),
        is_changed=bool(code.get("is_changed")),
        whole=str(verdict["whole"]) if "whole" in verdict else None,
        incomplete=str(facts["incomplete"]) if facts.get("incomplete") else None,
        figures=main_figures(figures),
    )


def trainees_of(drill: Drill) -> int:
    return max(drill.stairs, default=drill.trainees)


def machine_digest(facts: Mapping[str, object]) -> str:
    machine = _mapping(facts.get("machine"))
    told = {name: machine[name] for name in _MACHINE if machine.get(name) is not None}
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16] if told else ""


def fleet_of(facts: Mapping[str, object]) -> tuple[str, ...]:
    """What stands behind the target, each kind once with how many of it there are."""
    replicas = facts.get("replicas")
    named = [
        " ".join(str(each[name]) for name in ("profile", "version") if each.get(name)) or "unknown"
        for each in (replicas if isinstance(replicas, list) else ())
        if isinstance(each, dict)
    ]
    return tuple(f"{named.count(name)} x {name}" for name in sorted(set(named)))


def main_figures(figures: Mapping[str, object]) -> dict[str, float | None]:
    return {name: _number(figures, name.split(".")) for name in _MAIN} if figures else {}


def _number(told: Mapping[str, object], path: Sequence[str]) -> float | None:
    value: object = told
    for step in path:
        value = _mapping(value).get(step)
    return float(value) if isinstance(value, int | float) or value == "inf" else None


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _entry(told: Mapping[str, object]) -> Entry:
    """Raises `ValueError` for what is no entry of this format."""
    names = {each.name for each in fields(Entry)}
    if told.get("format") != _FORMAT or set(told) != names | {"format"}:
        raise ValueError("not an entry of the ledger")
    if not all(isinstance(told[name], _NO_TEXT.get(name, str)) for name in names):
        raise ValueError("an entry of the ledger with a value of another kind")
    figures = {name: _number(_mapping(told["figures"]), [name]) for name in _mapping(told["figures"])}
    fleet = told["fleet"] if isinstance(told["fleet"], list) else ()
    given: dict[str, Any] = {name: told[name] for name in names}
    return Entry(**{**given, "figures": figures, "fleet": tuple(map(str, fleet))})
