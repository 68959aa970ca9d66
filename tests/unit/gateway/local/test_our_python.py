import os
import sys
from pathlib import Path

import gateway
from gateway.local.children import Children
from gateway.local.our_python import our_module

ROOT = str(Path(gateway.__file__).parents[1])


def test_a_module_of_ours_is_found_from_any_folder(tmp_path: Path, children: Children) -> None:
    command = our_module("gateway.local.free_port", name="x", log=tmp_path / "x.log", environment={"PATH": os.defpath})
    children.run(command)
    assert command.argv == (sys.executable, "-m", "gateway.local.free_port")


def test_our_folder_comes_before_the_callers(tmp_path: Path) -> None:
    command = our_module("m", "serve", name="x", log=tmp_path / "x", environment={"PYTHONPATH": "/theirs", "A": "1"})
    assert command.env == {"A": "1", "PYTHONPATH": f"{ROOT}{os.pathsep}/theirs"}
    assert command.argv[-1] == "serve"
