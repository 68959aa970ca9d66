"""What an operator is told of an engine's log, where it is a file."""

from pathlib import Path

from router.fleet.domain.engine_log import telling_line

_READ_BYTES = 64 * 1024


def last_words(log: Path, *, since: int = 0) -> str:
    """`since` skips what earlier runs wrote."""
    try:
        with log.open("rb") as file:
            file.seek(max(since, log.stat().st_size - _READ_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        text = ""
    return telling_line(text) or "it wrote nothing to its log"
