"""Server-sent events, as far as vLLM speaks them; the `Relay` cuts a stream into them."""

MAX_EVENT_BYTES = 1 << 20
"""An event that grows past it is not an engine's."""
SEPARATOR = b"\n\n"
DONE = b"[DONE]"


def event_data(block: bytes) -> bytes | None:
    """The data of one whole event, its lines without their CR; None when there is none, as in a comment."""
    if block.startswith(b"data:") and b"\n" not in block:
        return _value(block)
    data = [_value(line) for line in block.split(b"\n") if line.startswith(b"data:")]
    return b"\n".join(data) if data else None


def _value(line: bytes) -> bytes:
    return line.removeprefix(b"data:").removeprefix(b" ")
