"""Where slow products (model folder, vLLM environments) are kept between runs; only whole ones are ever used."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gateway.local import product_marker
from gateway.local.errors import DiskFull, LocalStackError
from gateway.local.process import POLL_S

_ROOM_HINT = "free some space, or name a folder on another disk in DRILLYARD_CACHE"


def cache_folder(data: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """The one that was asked for, or the first of the usual places that can be written, else one in the data folder."""
    if named := environment.get("DRILLYARD_CACHE"):
        return _asked_for(Path(named))
    for place in _usual_places(environment):
        if _refusal(place) is None:
            return place.resolve()
    own = data / "cache"
    own.mkdir(parents=True, exist_ok=True)
    return own.resolve()


def _asked_for(place: Path) -> Path:
    """Elsewhere would be a surprise of several GB."""
    if (why := _refusal(place)) is not None:
        raise LocalStackError(
            f"the cache folder {place} cannot be used: {why}", hint="name another one in DRILLYARD_CACHE, or unset it"
        )
    return place.resolve()


def _refusal(place: Path) -> str | None:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return error.strerror or str(error)
    return None if os.access(place, os.W_OK | os.X_OK) else "it may not be written"


def _usual_places(environment: Mapping[str, str]) -> Iterator[Path]:
    if shared := environment.get("XDG_CACHE_HOME"):
        yield Path(shared) / "drillyard"
    if home := environment.get("HOME"):
        yield Path(home) / ".cache" / "drillyard"


def is_complete(product: Path) -> bool:
    return product_marker.is_there(product) and product_marker.damage(product) is None


def made_once(
    product: Path, make: Callable[[Path], None], *, checkpoint: Callable[[], None], say: Callable[[str], None]
) -> Path:
    """Make `product` unless it is whole; `say` is told of what takes a person's time."""
    if is_complete(product):
        return product
    product.parent.mkdir(parents=True, exist_ok=True)
    with locked(product.with_name(f"{product.name}.lock"), checkpoint=checkpoint, waiting=say):
        if not is_complete(product):
            if product_marker.is_there(product):
                say(f"{product} is damaged ({product_marker.damage(product)}); it is made anew")
            if product.exists():
                shutil.rmtree(product)
            product.mkdir()
            make(product)
            product_marker.write(product)
    return product


@contextmanager
def locked(file: Path, *, checkpoint: Callable[[], None], waiting: Callable[[str], None]) -> Iterator[None]:
    """Hold a lock that dies with its process; `waiting` is told when somebody else has it."""
    with file.open("a") as handle:
        told = False
        while not _try_lock(handle.fileno()):
            if not told:
                waiting(f"another drillyard is preparing {file.stem}; waiting for it")
                told = True
            checkpoint()
            time.sleep(POLL_S)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def require_room(folder: Path, *, needed_gib: float, what: str, hint: str = _ROOM_HINT) -> None:
    free_gib = shutil.disk_usage(folder).free / 2**30
    if free_gib < needed_gib:
        raise DiskFull(f"{what} needs {needed_gib:.1f} GiB and {folder} has {free_gib:.1f} GiB free", hint=hint)
