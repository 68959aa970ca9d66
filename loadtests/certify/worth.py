"""What a certificate is valid for, by what the run's facts say: on anything else it says nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadtests.conduct.http_line import HttpLine, Unanswered
from loadtests.target import Target

_SHORT = 12


@dataclass(frozen=True, slots=True)
class Played:
    """The scenario as its server has it; empty words where it does not say."""

    title: str = ""
    version: str = ""


def scenario_of(target: Target, facts: Mapping[str, object]) -> Played:
    scenario = _text(_object(facts, "target").get("scenario"))
    if not (target.keys and scenario):
        return Played()
    try:
        with HttpLine(target.base_url) as line:
            told = line.get_object(f"/v1/scenarios/{scenario}", key=target.keys[0])
    except Unanswered:
        return Played()
    return Played(str(told.get("title", "")), str(told.get("version", "")))


def is_simulated(facts: Mapping[str, object]) -> bool:
    return any("profile" in each for each in _replicas(facts))


def valid_for(facts: Mapping[str, object], played: Played, *, targets: str) -> dict[str, str]:
    """In words, by what each is; what is not known is left out."""
    code, machine = _object(facts, "code"), _object(facts, "machine")
    replicas = _replicas(facts)
    changed = ", with changes that are in no revision" if code.get("is_changed") else ""
    found = {
        "fleet": _joined(f"{len(replicas)} replicas" if replicas else "", _text(facts.get("fleet"))),
        "profile": _several(replicas, "profile"),
        "engine": _several(replicas, "version"),
        "speed of its time": _several(replicas, "speed_up"),
        "scenario": _joined(played.title, f"version {played.version}" if played.version else ""),
        "revision": _text(code.get("revision"))[:_SHORT] + changed,
        "release": _text(code.get("drillyard")),
        "drill": _text(facts.get("drill")),
        "targets": targets,
        "machine": _joined(_text(machine.get("cpu")), f"{machine.get('cpus')} CPUs" if "cpus" in machine else ""),
        "played at": _text(facts.get("bell_at")),
    }
    return {name: words for name, words in found.items() if words}


def _replicas(facts: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    found = facts.get("replicas")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _object(facts: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = facts.get(name)
    return found if isinstance(found, dict) else {}


def _several(replicas: Sequence[Mapping[str, object]], name: str) -> str:
    return ", ".join(sorted({_text(each[name]) for each in replicas if each.get(name) is not None}))


def _joined(*words: str) -> str:
    return ", ".join(each for each in words if each)


def _text(value: object) -> str:
    return "" if value is None else str(value)
