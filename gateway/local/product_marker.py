"""The note inside a cached product that it is whole: which of its files matter, and how large each of them is."""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

_NAME = "complete.json"
_LARGE_BYTES = 64 * 1024
_TELLING_NAMES = frozenset({"__init__.py", "RECORD"})  # one of each installed package, so that none can go unseen
_NEAR_THE_TOP = 2


def write(product: Path) -> None:
    """Written last and whole, so what a killed run left never has one."""
    files = {str(file.relative_to(product)): _size(file) for file in _key_files(product)}
    fresh = product / f"{_NAME}.new"
    fresh.write_text(json.dumps({"made_at_unix_s": int(time.time()), "files": files}))
    fresh.rename(product / _NAME)


def is_there(product: Path) -> bool:
    return (product / _NAME).is_file()


def damage(product: Path) -> str | None:
    """What is wrong with a product that was whole once, found without reading it; None: nothing."""
    files = _noted(product)
    if files is None:
        return f"{_NAME} cannot be read"
    for name, size in files.items():
        found = _size(product / name)
        if found != size:
            return f"{name} is missing" if found is None else f"{name} has {found} bytes instead of {size}"
    return None


def _key_files(product: Path) -> Iterator[Path]:
    for file in sorted(product.rglob("*")):
        if not file.is_file() or file.suffix == ".pyc":  # Python writes those anew as it likes
            continue
        near = len(file.relative_to(product).parts) <= _NEAR_THE_TOP
        if near or file.name in _TELLING_NAMES or file.stat().st_size >= _LARGE_BYTES:
            yield file


def _size(file: Path) -> int | None:
    """None: it is not there. What a link leads to may change with the system, so its size says nothing."""
    try:
        return 0 if file.is_symlink() and file.exists() else file.stat().st_size
    except OSError:
        return None


def _noted(product: Path) -> Mapping[str, int] | None:
    """None: the note itself is damaged. One of a version that named no files has nothing to compare."""
    try:
        content = json.loads((product / _NAME).read_text())
        return {str(name): int(size) for name, size in content.get("files", {}).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return None
