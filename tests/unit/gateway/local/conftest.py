"""Small real child processes for the tests of the local stack."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.local.children import Children
from gateway.local.process import Command

Script = Callable[..., Command]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """A command that runs a few lines of Python."""

    def made(code: str, *, name: str = "child", grace_s: float = 5.0) -> Command:
        argv = (sys.executable, "-S", "-c", code)
        return Command(name=name, argv=argv, log=tmp_path / f"{name}.log", grace_s=grace_s)

    return made


@pytest.fixture
def children() -> Iterator[Children]:
    family = Children()
    yield family
    family.stop_all()
