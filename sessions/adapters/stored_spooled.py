"""A spooled turn as bytes that a person can read, too: one may have to look at what could not be written."""

from typing import Final

import msgspec

from sessions.domain.spooled import SpooledTurn

FORMAT: Final = 1


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    spooled: SpooledTurn


def packed(spooled: SpooledTurn) -> bytes:
    return msgspec.json.encode(_Stored(FORMAT, spooled))


def unpacked(data: bytes | str) -> SpooledTurn | None:
    """None when these bytes are no spooled turn of this format."""
    try:
        stored = msgspec.json.decode(data, type=_Stored)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return stored.spooled if stored.format == FORMAT else None
