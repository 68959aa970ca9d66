"""Which files weights consist of: paths with their digests, and one digest for all of them.

The list is written as `sha256sum` writes it, sorted by path, so that `sha256sum -c SHA256SUMS` checks a folder. The
digest of weights is that of the list in this form.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import PurePosixPath
from typing import Final

from router.fleet.errors import WeightsUnusable

LIST_NAME: Final = "SHA256SUMS"
MOST_FILES: Final = 10_000
_LONGEST_PATH: Final = 1_000
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_LINE: Final = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")
_STEP: Final = 1024


@dataclass(frozen=True, slots=True)
class WeightsFile:
    path: str
    """Inside the folder, with forward slashes."""
    sha256: str
    size: int | None = None
    """In bytes; None: not known, and no part of the digest."""


@dataclass(frozen=True, slots=True)
class WeightsList:
    """Made by `weights_list`."""

    files: tuple[WeightsFile, ...]

    @property
    def text(self) -> str:
        return "".join(f"{file.sha256}  {file.path}\n" for file in self.files)

    @property
    def digest(self) -> str:
        return f"sha256:{hashlib.sha256(self.text.encode()).hexdigest()}"


def weights_list(files: Iterable[WeightsFile]) -> WeightsList:
    """Raises `WeightsUnusable` for a path that leaves the folder, or cannot stand beside the others in it."""
    given = list(islice(files, MOST_FILES + 1))
    if not given:
        raise WeightsUnusable("the list of the weights names no file")
    if len(given) > MOST_FILES:
        raise WeightsUnusable(f"the list of the weights names more than {MOST_FILES} files")
    for file in given:
        _check_path(file.path)
        _check_digest(file)
    listed = sorted(given, key=lambda file: file.path.encode())
    _check_together([file.path for file in listed])
    return WeightsList(tuple(listed))


def parsed_list(text: str) -> WeightsList:
    """A list as it was written; raises `WeightsUnusable`."""
    files = []
    for number, line in enumerate(text.split("\n"), start=1):
        found = _LINE.fullmatch(line.removesuffix("\r"))
        if found is not None:
            files.append(WeightsFile(path=found[2].removeprefix("./"), sha256=found[1]))
        elif line.strip():
            raise WeightsUnusable(f"line {number} of the list of the weights is no digest with a path")
    return weights_list(files)


def is_listed(path: str) -> bool:
    """Whether a file of a folder belongs into its list: neither the list itself nor what is hidden does."""
    return path != LIST_NAME and not any(part.startswith(".") for part in path.split("/"))


def in_words(done: int, total: int) -> str:
    """Such as "3.1 of 14.2 GiB"."""
    return f"{_figure(done, _power(total))} of {size_in_words(total)}"


def size_in_words(size: int) -> str:
    """Such as "14.2 GiB"."""
    power = _power(size)
    return f"{_figure(size, power)} {_UNITS[power]}"


def _power(size: int) -> int:
    return min(len(_UNITS) - 1, (max(size, 1).bit_length() - 1) // 10)


def _figure(size: int, power: int) -> str:
    return f"{size / _STEP**power:.{1 if power else 0}f}"


def _check_path(path: str) -> None:
    parts = path.split("/")
    if not path.isprintable() or "\\" in path or len(path) > _LONGEST_PATH:
        raise WeightsUnusable(f"the list of the weights names {path[:80]!r}, which is no path")
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        raise WeightsUnusable(f"the list of the weights names {path[:80]!r}, which is not inside the folder")
    if not is_listed(path):
        raise WeightsUnusable(f"the list of the weights names {path[:80]!r}, and hidden files and the list stay out")


def _check_digest(file: WeightsFile) -> None:
    # Partial downloads are named by it.
    if not _DIGEST.fullmatch(file.sha256):
        raise WeightsUnusable(f"the list of the weights says of {file.path} what is no SHA-256 digest")


def _check_together(paths: Sequence[str]) -> None:
    for one, other in pairwise(paths):
        if one == other:
            raise WeightsUnusable(f"the list of the weights names {one} twice")
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    both = next((path for path in paths if path in folders), None)
    if both is not None:
        raise WeightsUnusable(f"the list of the weights names {both} as a file and as a folder")
