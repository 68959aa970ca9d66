import sys
from pathlib import Path

import pytest

from gateway.cli.engine_facts import bundled_facts, bundled_versions, facts_of_environment
from gateway.cli.failure import CommandFailed
from router.fleet.domain.vllm_flags import Kind

STAND_IN = """\
import argparse

class FlexibleArgumentParser(argparse.ArgumentParser):
    pass

class ServeSubcommand:
    def subparser_init(self, subparsers):
        parser = subparsers.add_parser("serve")
        parser.add_argument("--max-num-seqs", type=int, default=7)
        return parser
"""


def environment(folder: Path, code: str) -> Path:
    """A folder that looks like a virtual environment whose `python` finds a package `vllm`."""
    package = folder / "lib" / "vllm" / "entrypoints" / "cli"
    package.mkdir(parents=True)
    (package / "serve.py").write_text(code)
    facts = folder / "lib" / "vllm-9.1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 9.1.2+local\n")
    python = folder / "bin" / "python"
    python.parent.mkdir()
    lines = (
        f"#!{sys.executable} -S",
        "import runpy, sys",
        f"sys.path.insert(0, {str(folder / 'lib')!r})",
        "sys.argv = sys.argv[2:]",
        "runpy.run_path(sys.argv[0], run_name='__main__')",
    )
    python.write_text("\n".join(lines))
    python.chmod(0o755)
    return folder


def test_bundled_flags_are_found_by_their_version() -> None:
    assert "0.32" in bundled_versions()
    facts = bundled_facts("0.32.0")
    assert facts.version.startswith("0.32.")
    assert len(facts.flags) > 300
    assert facts.flags["max-model-len"].kind is Kind.SIZE_OR_AUTO
    assert "fp8" in facts.flags["quantization"].choices
    assert bundled_facts() == bundled_facts(bundled_versions()[-1])


def test_a_version_that_is_not_known_is_told_with_those_that_are() -> None:
    with pytest.raises(CommandFailed, match=r"vLLM 0\.1 are not known, only those of .*0\.32"):
        bundled_facts("0.1")


def test_an_environment_is_asked_for_its_flags(tmp_path: Path) -> None:
    facts = facts_of_environment(environment(tmp_path, STAND_IN))
    assert (facts.version, facts.flags["max-num-seqs"].default) == ("9.1.2", "7")


def test_an_environment_that_cannot_tell_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="does not tell the flags of its vLLM: ValueError: broken"):
        facts_of_environment(environment(tmp_path, "raise ValueError('broken')"))
    with pytest.raises(CommandFailed, match=r"bin/python cannot be run: No such file"):
        facts_of_environment(tmp_path / "nowhere")
