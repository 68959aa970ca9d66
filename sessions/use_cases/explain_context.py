"""Show how the next prompt of a session is built."""

from sessions.domain.context import Context
from sessions.domain.session import SessionId
from sessions.domain.viewer import Viewer
from sessions.errors import ScenarioNotFound
from sessions.ports import Records
from sessions.prompt_writer import PromptWriter
from sessions.use_cases.read_session import visible_session


class ExplainContext:
    def __init__(self, *, records: Records, writer: PromptWriter) -> None:
        self._records = records
        self._writer = writer

    async def __call__(self, viewer: Viewer, session: SessionId) -> Context:
        """Raises `SessionNotFound`."""
        async with self._records.begin() as work:
            found = await visible_session(work, viewer, session)
            scenario = await work.scenarios.get(found.tenant, found.scenario, found.scenario_version)
            turns = await work.turns.all(session)
        if scenario is None:
            raise ScenarioNotFound("the session's scenario is gone")
        return self._writer.explain(found, scenario.content, turns)
