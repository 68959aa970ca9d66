"""Show how the next prompt of a session is built."""

from sessions.domain.context import Context
from sessions.domain.session import SessionId
from sessions.domain.tiers import Tier
from sessions.domain.viewer import Viewer
from sessions.use_cases.served_models import ServedModels
from sessions.use_cases.session_histories import SessionHistories


class ExplainContext:
    def __init__(self, *, histories: SessionHistories, models: ServedModels) -> None:
        self._histories = histories
        self._models = models

    async def __call__(self, viewer: Viewer, session: SessionId) -> Context:
        """Raises `SessionNotFound`."""
        known = await self._histories.known(viewer, session)
        _, writer = await self._models.choose(Tier.ROLE_PLAY, known.session.tenant, known.content)
        return writer.explain(known.session, known.content, known.history)
