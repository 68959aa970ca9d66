"""Every module fits in the head, says what it knows, and is named after it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("router", "sessions", "gateway", "loadtests")
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
VAGUE = {"utils.py", "util.py", "helpers.py", "common.py", "misc.py", "base.py", "manager.py", "handler.py"}
LONGEST_MODULE = 400
LONGEST_FUNCTION = 60
MOST_PORT_METHODS = 6

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("source", SOURCES, ids=named)
def test_a_module_fits_in_the_head(source: Path) -> None:
    assert source.name not in VAGUE, "name the file after what it knows"
    text = source.read_text()
    assert len(text.splitlines()) <= LONGEST_MODULE
    long = [f.name for f in functions(ast.parse(text)) if (f.end_lineno or 0) - f.lineno >= LONGEST_FUNCTION]
    assert not long


@pytest.mark.parametrize("source", SOURCES, ids=named)
def test_a_module_says_what_it_knows(source: Path) -> None:
    tree = ast.parse(source.read_text())
    if tree.body:
        assert ast.get_docstring(tree), "open with one line that says what the module knows"


@pytest.mark.parametrize("source", SOURCES, ids=named)
def test_importing_a_module_starts_nothing(source: Path) -> None:
    """Names, definitions and constants only: no loop, no `with`, no bare call at the top level."""
    busy = (ast.For, ast.While, ast.With, ast.Try, ast.AsyncFor, ast.AsyncWith)
    tree = ast.parse(source.read_text())
    calls = [n for n in tree.body if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    allowed = source.name == "env.py"  # Alembic runs this file; that is its purpose
    assert allowed or (not [n for n in tree.body if isinstance(n, busy)] and not calls)


@pytest.mark.parametrize("source", SOURCES, ids=named)
def test_what_is_constructed_is_named_at_the_call(source: Path) -> None:
    """A constructor that takes more than one thing takes keywords, and at most six of them."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ClassDef):
            for function in node.body:
                if isinstance(function, ast.FunctionDef) and function.name == "__init__":
                    arguments = function.args
                    assert len(arguments.kwonlyargs) <= 6, f"{node.name} is two classes"
                    assert len(arguments.args) <= 3, f"{node.name} takes keywords only"


@pytest.mark.parametrize("package", ["router", "sessions", "gateway"])
def test_a_port_is_small(package: str) -> None:
    tree = ast.parse((ROOT / package / "ports.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = [f for f in node.body if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)]
            assert len(methods) < MOST_PORT_METHODS, f"{node.name} promises too much"
