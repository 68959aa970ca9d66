"""Writes the list of a folder of weights, for whoever publishes them."""

import hashlib
from pathlib import Path

from router.fleet.domain.weights_list import LIST_NAME, WeightsFile, WeightsList, is_listed, weights_list
from router.fleet.errors import WeightsUnusable


def listed_folder(folder: Path) -> WeightsList:
    """Hash every file that is not hidden, and write the list beside them; raises `WeightsUnusable`."""
    if not folder.is_dir():
        raise WeightsUnusable(f"{folder} is no folder")
    try:
        paths = [place.relative_to(folder).as_posix() for place in folder.rglob("*") if place.is_file()]
        listed = weights_list(_hashed(folder, path) for path in paths if is_listed(path))
        (folder / LIST_NAME).write_text(listed.text)
    except OSError as error:
        raise WeightsUnusable(f"the folder of the weights cannot be listed: {error.strerror}") from error
    return listed


def _hashed(folder: Path, path: str) -> WeightsFile:
    place = folder / path
    with place.open("rb") as read:
        digest = hashlib.file_digest(read, "sha256").hexdigest()
    return WeightsFile(path, digest, place.stat().st_size)
