"""What a finished reply made of its scenario's outline."""

from sessions.domain.moderation import NOTHING_FOUND, Judgement
from sessions.domain.outline import Outline, judged
from sessions.moderation_ports import Moderation


async def outline_judgement(moderation: Moderation, outline: Outline, reply: str) -> Judgement:
    """Costs nothing where there is no outline, or nothing was said."""
    points = [(point.name, point.phrases) for point in outline.points]
    if not points or not reply:
        return NOTHING_FOUND
    return judged(outline, await moderation.points_made(points, reply))
