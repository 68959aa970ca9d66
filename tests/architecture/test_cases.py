"""Every test that docs/cases.md names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"`([\w/]+\.py)::(test_\w+)`", (ROOT / "docs/cases.md").read_text())


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_a_case_has_its_test(file: str, test: str) -> None:
    assert f"def {test}(" in (ROOT / "tests" / file).read_text()


def test_there_are_cases() -> None:
    assert len(NAMED) > 30
