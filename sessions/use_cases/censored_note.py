"""What of a note may stand in a prompt by the rules that are in force now, whatever they were before."""

from collections.abc import Callable

from sessions.moderation_ports import Rules


async def censored(rules: Rules, text: str, *, fits: Callable[[str], bool]) -> str:
    """The text without the lines that are blocked, masked where it must be, and short enough; perhaps nothing."""
    lines = text.split("\n")
    while lines:
        found = await rules.written("\n".join(lines))
        if found.blocked is None and fits(found.text):
            return found.text
        # What stands before a block tells in which line it begins; a mask may have made the text longer.
        at = len(lines) if found.blocked is None else found.text.count("\n") + 1
        del lines[min(at, len(lines)) - 1]
    return ""
