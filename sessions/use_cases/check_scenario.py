"""Whether a scenario can be played: by itself, and by every model that may come to play it."""

from collections.abc import Mapping

from sessions.domain.scenario import ScenarioContent, checked
from sessions.domain.tiers import Tier
from sessions.domain.viewer import Viewer
from sessions.errors import ScenarioInvalid
from sessions.ports import Tiers
from sessions.prompt_writer import PromptWriter


class CheckScenario:
    """`writers` holds the prompt writer of each served model."""

    def __init__(self, *, writers: Mapping[str, PromptWriter], tiers: Tiers) -> None:
        self._writers = writers
        self._tiers = tiers

    async def __call__(self, author: Viewer, content: ScenarioContent) -> ScenarioContent:
        """The content; raises `ScenarioInvalid` or `RecordsUnavailable`."""
        sound, wanted = checked(content), dict(content.tiers)
        for tier, model in wanted.items():
            if model not in self._writers:
                known = ", ".join(self._writers)
                raise ScenarioInvalid(f"model_tiers.{tier}", f"there is no such model here; there are {known}")
        for model in await self._tiers.candidates(sound.tier_of(Tier.ROLE_PLAY), author.tenant, wanted):
            self._check_size(model, sound)
        return sound

    def _check_size(self, model: str, content: ScenarioContent) -> None:
        try:
            self._writers[model].checked(content)
        except ScenarioInvalid as error:
            if len(self._writers) == 1:
                raise
            raise ScenarioInvalid(error.field, f"{error.detail} (as the model {model} counts)") from error
