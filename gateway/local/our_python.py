"""How a module of this project is run as a child, wherever the project was installed or cloned."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import gateway
from gateway.local.process import Command


def our_module(
    module: str,
    *words: str,
    name: str,
    log: Path,
    environment: Mapping[str, str] = os.environ,
    grace_s: float = 10.0,
) -> Command:
    argv = (sys.executable, "-m", module, *words)
    own = {**environment, "PYTHONPATH": _search_path(environment)}
    return Command(name=name, argv=argv, log=log, env=own, grace_s=grace_s)


def _search_path(environment: Mapping[str, str]) -> str:
    # The folder this package was imported from comes first: a child must not meet another copy.
    places = [str(Path(gateway.__file__).parents[1]), environment.get("PYTHONPATH", "")]
    return os.pathsep.join(place for place in places if place)
