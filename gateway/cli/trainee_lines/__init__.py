"""What scripted trainees say, one line a turn, in the languages that are bundled."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from gateway.cli.failure import CommandFailed

FALLBACK = "en"
BUNDLED = ("en", "zh")


def bundled(locale: str) -> tuple[str, ...]:
    """The lines of the locale's language, or English ones."""
    language = locale.replace("_", "-").partition("-")[0].lower()
    name = language if language in BUNDLED else FALLBACK
    return lines_in(files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8"))


def from_file(path: Path) -> tuple[str, ...]:
    try:
        found = lines_in(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"the lines file {path} cannot be read: {error}") from error
    if not found:
        raise CommandFailed(f"the lines file {path} has no line")
    return found


def lines_in(text: str) -> tuple[str, ...]:
    """One line a turn; empty ones and those that begin with # are left out."""
    return tuple(line for raw in text.split("\n") if (line := raw.strip()) and not line.startswith("#"))


def line_for(lines: Sequence[str], *, trainee: int, turn: int) -> str:
    """Each trainee begins at another line, so that no two sessions say the same."""
    return lines[(trainee + turn - 1) % len(lines)]
