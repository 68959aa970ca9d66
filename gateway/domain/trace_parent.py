"""A caller's W3C `traceparent`: taken where it is one, and as good as absent otherwise."""

import re
from collections.abc import Sequence

_VERSION_0 = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)


def trace_parent(headers: Sequence[str]) -> str:
    """The one header of that name; empty when there is none that can be used."""
    return headers[0] if len(headers) == 1 and _VERSION_0.fullmatch(headers[0]) else ""
