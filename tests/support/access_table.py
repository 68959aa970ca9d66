"""The table of docs/access.md: which roles may call which route, and what the route is about."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.domain.access import Role

_PAGE = Path(__file__).parents[2] / "docs" / "access.md"
_ROW = re.compile(r"\| `([A-Z]+) (/[^`]*)` \| ([a-z ]+) \|(.*)\|")

COLUMNS = (Role.TRAINEE, Role.INSTRUCTOR, Role.OPERATOR, Role.SERVICE)


@dataclass(frozen=True)
class Row:
    action: str
    roles: frozenset[Role]


def written_table() -> Mapping[tuple[str, str], Row]:
    return dict(_rows(_PAGE.read_text()))


def line(method: str, path: str, row: Row) -> str:
    """A row as it stands in the page."""
    cells = "".join(f" {'yes' if role in row.roles else ''} |" for role in COLUMNS)
    return f"| `{method} {path}` | {row.action} |{cells}"


def _rows(page: str) -> Iterator[tuple[tuple[str, str], Row]]:
    for method, path, action, cells in _ROW.findall(page):
        marks = [cell.strip() for cell in cells.split("|")]
        assert len(marks) == len(COLUMNS), f"{method} {path} has another number of roles"
        assert set(marks) <= {"yes", ""}, f"{method} {path} says neither yes nor nothing"
        yield (
            (method, path),
            Row(action, frozenset(role for role, mark in zip(COLUMNS, marks, strict=True) if mark)),
        )
