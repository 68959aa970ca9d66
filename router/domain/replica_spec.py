"""What an operator may call a replica, and where it may be."""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import SplitResult, urlsplit

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.errors import ReplicaInvalid

_ID: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._:-]{0,126}[A-Za-z0-9])?")
_LONGEST_URL: Final = 2_000
_LONGEST_MODEL: Final = 200
_MOST_MODELS: Final = 64
_SCHEMES: Final = frozenset({"http", "https"})


def checked_spec(replica: str, url: str, models: Iterable[str] = ()) -> ReplicaSpec:
    """Raises `ReplicaInvalid`, which says what to write instead."""
    if not _ID.fullmatch(replica):
        raise ReplicaInvalid(
            "an id has 1 to 128 letters, digits, '.', '_', ':' or '-', and a letter or digit at each end"
        )
    names = frozenset(models)
    if len(names) > _MOST_MODELS or not all(_is_name(name) for name in names):
        raise ReplicaInvalid(f"at most {_MOST_MODELS} models, each named by 1 to {_LONGEST_MODEL} printable characters")
    return ReplicaSpec(ReplicaId(replica), _checked_url(url), names)


def _is_name(model: str) -> bool:
    return 0 < len(model) <= _LONGEST_MODEL and model.isprintable()


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ReplicaInvalid("the URL cannot be read") from error
    if len(url) > _LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url or port == 0:
        raise ReplicaInvalid("the URL cannot be read")
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise ReplicaInvalid("a URL is http:// or https:// with a host, such as http://10.0.0.7:8000")
    if _has_more(parts):
        raise ReplicaInvalid("the URL may hold host, port and path; no user, password, query or fragment")
    return url.rstrip("/")


def _has_more(parts: SplitResult) -> bool:
    return parts.username is not None or bool(parts.query) or bool(parts.fragment)
