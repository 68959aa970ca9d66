"""Profiles as JSON: each figure with where it comes from. Some ship with the simulator, others are files of yours."""

import json
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from loadtests.simulator.domain.profile import (
    DecodeCost,
    Limits,
    Memory,
    PrefillCost,
    Profile,
    Source,
    SourceKind,
    StartUp,
    flaws,
)
from loadtests.simulator.errors import SimulatorError

_SECTIONS = {"prefill": PrefillCost, "decode": DecodeCost, "memory": Memory, "limits": Limits, "start_up": StartUp}
_SHIPPED = files("loadtests.simulator") / "profiles"

Words = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class UnusableProfile(SimulatorError):
    """A profile that is not there, cannot be read, or that no engine can run with; says why."""


class _Figure(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    value: int | float | None
    source: SourceKind
    why: Words


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Words
    provenance: Words
    prefill: dict[str, _Figure]
    decode: dict[str, _Figure]
    memory: dict[str, _Figure]
    limits: dict[str, _Figure]
    start_up: dict[str, _Figure]
    note: str = Field(default="", description="for people; not read")

    def section(self, name: str) -> dict[str, _Figure]:
        sections = (self.prefill, self.decode, self.memory, self.limits, self.start_up)
        return dict(zip(_SECTIONS, sections, strict=True))[name]


def shipped() -> list[str]:
    """The names of the profiles that come with the simulator."""
    return sorted(entry.name.removesuffix(".json") for entry in _SHIPPED.iterdir() if entry.name.endswith(".json"))


def load(name: str) -> Profile:
    """A shipped profile by its name, or one in a file by its path."""
    if name in shipped():
        return parse((_SHIPPED / f"{name}.json").read_text("utf-8"))
    try:
        text = Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(shipped())
        raise UnusableProfile(f"{name} is neither a readable file nor one of: {known}") from error
    return parse(text)


def parse(text: str) -> Profile:
    try:
        document = _Document.model_validate_json(text)
        profile = TypeAdapter(Profile).validate_python(_as_profile(document))
    except ValidationError as error:
        raise UnusableProfile(_complaint(error)) from error
    if found := "; ".join(flaws(profile)):
        raise UnusableProfile(found)
    return profile


def text_of(profile: Profile) -> str:
    """The opposite of `parse`."""
    sources = {source.figure: source for source in profile.sources}
    document: dict[str, object] = {"name": profile.name, "provenance": profile.provenance}
    for section, kind in _SECTIONS.items():
        figures = {}
        for field in fields(kind):
            value = getattr(getattr(profile, section), field.name)
            source = sources.get(f"{section}.{field.name}")
            if value is not None:
                figures[field.name] = {
                    "value": value,
                    "source": source.kind if source else SourceKind.ASSUMED,
                    "why": source.why if source else "not said",
                }
        document[section] = figures
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _as_profile(document: _Document) -> dict[str, object]:
    sections: dict[str, object] = {}
    sources = []
    for name, kind in _SECTIONS.items():
        figures = document.section(name)
        if unknown := sorted(figures.keys() - {field.name for field in fields(kind)}):
            raise UnusableProfile(f"{name} has no figure {', '.join(unknown)}")
        sections[name] = {key: figure.value for key, figure in figures.items()}
        sources += [Source(f"{name}.{key}", figure.source, figure.why) for key, figure in figures.items()]
    return {"name": document.name, "provenance": document.provenance, "sources": tuple(sources), **sections}


def _complaint(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg']}"
