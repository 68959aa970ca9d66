"""Each source file has its test file, found by its name."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("router", "sessions", "gateway")
TESTS = {path.name for path in (ROOT / "tests").rglob("test_*.py")}

# What is proven elsewhere, each with where.
ELSEWHERE = {
    "gateway/settings.py": "tests/unit/gateway/test_settings.py",
}


def sources() -> list[str]:
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in paths if path.name != "__init__.py")


@pytest.mark.parametrize("source", sources())
def test_a_source_file_has_its_test_file(source: str) -> None:
    twin = ELSEWHERE.get(source)
    assert (ROOT / twin).exists() if twin else f"test_{Path(source).name}" in TESTS
