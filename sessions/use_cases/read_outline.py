"""What a session has made of its scenario's outline so far."""

from sessions.domain.outline import OutlineReport, reported
from sessions.domain.session import SessionId
from sessions.domain.viewer import Viewer
from sessions.ports import Records
from sessions.use_cases.read_scenario import known_scenario
from sessions.use_cases.read_session import visible_session


class ReadOutline:
    def __init__(self, *, records: Records) -> None:
        self._records = records

    async def __call__(self, viewer: Viewer, session: SessionId) -> OutlineReport:
        """By the version of the scenario that the session plays; raises `SessionNotFound`."""
        async with self._records.begin() as work:
            found = await visible_session(work, viewer, session)
            scenario = await known_scenario(work, found.tenant, found.scenario, found.scenario_version)
            turns = await work.turns.all(session)
        return reported(scenario.content.outline, ((turn.number, turn.moderation.points) for turn in turns))
