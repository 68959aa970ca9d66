"""Show how the next prompt of a session is built."""

from sessions.domain.context import Context
from sessions.domain.history import history
from sessions.domain.session import SessionId
from sessions.domain.viewer import Viewer
from sessions.ports import Records
from sessions.prompt_writer import PromptWriter
from sessions.use_cases.read_scenario import known_scenario
from sessions.use_cases.read_session import visible_session


class ExplainContext:
    def __init__(self, *, records: Records, writer: PromptWriter) -> None:
        self._records = records
        self._writer = writer

    async def __call__(self, viewer: Viewer, session: SessionId) -> Context:
        """Raises `SessionNotFound`."""
        async with self._records.begin() as work:
            found = await visible_session(work, viewer, session)
            scenario = await known_scenario(work, found.tenant, found.scenario, found.scenario_version)
            known = history(await work.notes.all(session), await work.turns.all(session))
        return self._writer.explain(found, scenario.content, known)
