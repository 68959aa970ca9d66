from pathlib import Path

import pytest

from gateway.cli.failure import CommandFailed
from gateway.cli.profile_file import LARGEST_BYTES, read_profile


def test_a_profile_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("# ours\nmax-model-len: 8k\nenable-prefix-caching: true\ncompilation-config:\n  mode: 3\n")
    assert read_profile(file) == {
        "max-model-len": "8k",
        "enable-prefix-caching": True,
        "compilation-config": {"mode": 3},
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "holds no flags"),
        ("- a\n- b\n", "holds no flags"),
        ("1: 2\n", "holds no flags"),
        ("a: [\n", "is no YAML, line 2"),
        ("max-num-seqs: 1\nmax-num-seqs: 2\n", "is no YAML, line 1: max-num-seqs stands there twice"),
        ("a: {b: 1, b: 2}\n", "b stands there twice"),
        ("a: !!python/object/apply:os.system [id]\n", "is no YAML"),
        ("a: \x1b\n", "is no YAML"),
        ("a: " + "[" * 100_000, "is no YAML"),
        ("a: 2026-99-99\n", "is no YAML"),
        ("a: &a {b: 1}\nc: *a\n", "is no YAML, line 2: what stands elsewhere is written out"),
        ("a: &a [*a]\n", "is no YAML, line 1: what stands elsewhere is written out"),
        ("".join(f"flag-{number}: 1\n" for number in range(40_000)), "more than 1000 flags"),
        ("x" * (LARGEST_BYTES + 1), "too large"),
    ],
)
def test_what_is_no_profile_is_told(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(CommandFailed, match=why):
        read_profile(file)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"missing\.yaml cannot be read: No such file"):
        read_profile(tmp_path / "missing.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe4\n")
    with pytest.raises(CommandFailed, match="is no YAML"):
        read_profile(tmp_path / "latin.yaml")
