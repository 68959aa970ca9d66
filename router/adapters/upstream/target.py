"""Where a request goes, read from a base URL."""

import re
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from router.adapters.upstream.errors import TargetInvalid

_PORT_OF = {"http": 80, "https": 443}
# urlsplit drops line ends silently, so what may stand in a URL is decided before.
_PRINTABLE = re.compile(r"[!-~]+")


class Origin(NamedTuple):
    """What a connection leads to; connections to the same one are interchangeable."""

    host: str
    port: int
    is_tls: bool


@dataclass(frozen=True, slots=True)
class Target:
    origin: Origin
    authority: str
    """As the `Host` header has it."""
    prefix: str
    """What goes before every path; without a slash at its end."""


def target_of(url: str) -> Target:
    """Raises `TargetInvalid` for anything but `http[s]://host[:port][/prefix]`."""
    parts, port = _split(url)
    if parts.scheme not in _PORT_OF or not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment:
        raise TargetInvalid("not an address of the form http[s]://host[:port][/prefix]")
    origin = Origin(parts.hostname, port or _PORT_OF[parts.scheme], parts.scheme == "https")
    return Target(origin, parts.netloc, parts.path.rstrip("/"))


def _split(url: str) -> tuple[SplitResult, int | None]:
    if _PRINTABLE.fullmatch(url) is None:
        raise TargetInvalid("an address holds printable ASCII characters only")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise TargetInvalid(f"not an address: {error}") from error
    return parts, port
