"""The files of deploy/kubernetes, as values."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / "deploy/kubernetes"
Thing = dict[str, Any]


@cache
def documents() -> tuple[Thing, ...]:
    """Everything that the kustomization names, in its order."""
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    return tuple(found for name in listed for found in yaml.safe_load_all((FOLDER / name).read_text()))


def the(kind: str, name: str) -> Thing:
    (found,) = (each for each in documents() if each["kind"] == kind and each["metadata"]["name"] == name)
    return found


def allowed_calls() -> set[str]:
    """What the controller's role lets it do, as "patch deployments/scale"."""
    return set(_calls(the("Role", "drillyard-fleet")))


def _calls(role: Thing) -> Iterator[str]:
    for rule in role["rules"]:
        for resource in rule["resources"]:
            yield from (f"{verb} {resource}" for verb in rule["verbs"])
