"""What of a note may stand in a prompt by the rules that are in force now, whatever they were before.

A note says again what people and the model have said, so that the phrases of both directions are looked for.
"""

from collections.abc import Callable

from sessions.domain.moderation import Action, Moderated
from sessions.moderation_ports import Rules


async def censored(rules: Rules, text: str, *, fits: Callable[[str], bool]) -> str:
    """The text without the lines that are blocked, masked where it must be, and short enough; perhaps nothing."""
    lines = text.split("\n")
    while lines:
        said = await rules.written("\n".join(lines))
        heard = await rules.instructions(said.text)
        if said.blocked is None and heard.blocked is None and fits(heard.text):
            return heard.text
        # What stands before a block tells in which line it begins; a mask may have made the text longer.
        before = said.text[: _block_in(heard)]
        at = len(lines) if said.blocked is heard.blocked is None else before.count("\n") + 1
        del lines[min(at, len(lines)) - 1]
    return ""


def _block_in(heard: Moderated) -> int | None:
    """Where the phrase begins that blocks it; nowhere: None."""
    return next((mark.start for mark in heard.judgement.marks if mark.action is Action.BLOCK), None)
