"""Tokens written by hand, good ones and others."""

import base64
import json
from collections.abc import Mapping


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def segment(value: Mapping[str, object] | bytes) -> str:
    return b64(value if isinstance(value, bytes) else json.dumps(value).encode())


def token(
    header: Mapping[str, object] | bytes, claims: Mapping[str, object] | bytes, signature: bytes = b"signature"
) -> str:
    return f"{segment(header)}.{segment(claims)}.{b64(signature)}"
