"""The bytes of a request, and what may not stand in them."""

import re
from collections.abc import Iterable

from router.adapters.upstream.errors import HeaderInvalid
from router.adapters.upstream.target import Target

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
# These say where the request goes and where it ends, which is decided here alone.
_FRAMING = frozenset(
    {"connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer"}
    | {"transfer-encoding", "upgrade"}
)


def header_lines(headers: Iterable[tuple[str, str]]) -> str:
    """Raises `HeaderInvalid`; what does not change from request to request need be written only once."""
    lines = []
    for name, value in headers:
        if _NAME.fullmatch(name) is None or _VALUE.fullmatch(value) is None or name.lower() in _FRAMING:
            # The value may be a secret.
            raise HeaderInvalid(f"the header {name[:40]!r} cannot be sent")
        lines.append(f"{name}: {value}\r\n")
    return "".join(lines)


def request_bytes(target: Target, path: str, lines: str, body: bytes, *, method: str = "POST") -> bytes:
    """The request as it goes over the wire; `lines` are those of `header_lines`."""
    start = f"{method} {target.prefix}{path} HTTP/1.1\r\nhost: {target.authority}\r\ncontent-length: {len(body)}\r\n"
    return f"{start}{lines}\r\n".encode("latin-1") + body
