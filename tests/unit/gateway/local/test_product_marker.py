from pathlib import Path

import pytest

from gateway.local import product_marker


@pytest.fixture
def product(tmp_path: Path) -> Path:
    """Looks like an environment with one small package and one large library."""
    folder = tmp_path / "product"
    package = folder / "lib" / "python3.11" / "site-packages" / "small"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "deep" / "notes.txt").write_text("notes")
    (package / "deep" / "large.so").write_bytes(b"x" * 100_000)
    (folder / "bin").mkdir()
    (folder / "bin" / "tool").write_text("tool")
    (folder / "bin" / "python").symlink_to(tmp_path / "system-python")
    (tmp_path / "system-python").write_text("3.11.7")
    product_marker.write(folder)
    return folder


def test_a_whole_product_has_its_marker_and_no_damage(product: Path) -> None:
    assert product_marker.is_there(product)
    assert product_marker.damage(product) is None


@pytest.mark.parametrize(
    "name",
    [
        "bin/tool",
        "bin/python",
        "lib/python3.11/site-packages/small/__init__.py",
        "lib/python3.11/site-packages/small/deep/large.so",
    ],
)
def test_a_key_file_that_is_gone_is_named(product: Path, name: str) -> None:
    (product / name).unlink()
    assert product_marker.damage(product) == f"{name} is missing"


def test_a_file_that_was_cut_is_named_with_its_sizes(product: Path) -> None:
    (product / "bin" / "tool").write_text("t")
    assert product_marker.damage(product) == "bin/tool has 1 bytes instead of 4"


def test_what_a_link_leads_to_may_change_but_not_go(product: Path) -> None:
    system = product.parent / "system-python"
    system.write_text("3.11.15")
    assert product_marker.damage(product) is None
    system.unlink()
    assert product_marker.damage(product) == "bin/python is missing"


def test_small_files_deep_inside_are_not_watched(product: Path) -> None:
    (product / "lib" / "python3.11" / "site-packages" / "small" / "deep" / "notes.txt").unlink()
    assert product_marker.damage(product) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": 3}', '{"files": {"a": null}}'])
def test_a_marker_that_cannot_be_read_is_damage_itself(product: Path, text: str) -> None:
    (product / "complete.json").write_text(text)
    assert product_marker.damage(product) == "complete.json cannot be read"


def test_a_marker_that_names_no_files_is_believed(product: Path) -> None:
    (product / "complete.json").write_text('{"made_at_unix_s": 1}')
    assert product_marker.damage(product) is None
