"""Whether a scenario can be played: by itself, on its knowledge base, and by every model that may come to play it."""

from collections.abc import Mapping
from dataclasses import replace

from sessions.domain.scenario import ScenarioContent, checked
from sessions.domain.tiers import Tier
from sessions.domain.viewer import Viewer
from sessions.errors import ScenarioInvalid
from sessions.knowledge_ports import Catalogue
from sessions.ports import Tiers
from sessions.prompt_writer import PromptWriter


class CheckScenario:
    """`writers` holds the prompt writer of each served model."""

    def __init__(self, *, writers: Mapping[str, PromptWriter], tiers: Tiers, catalogue: Catalogue) -> None:
        self._writers = writers
        self._tiers = tiers
        self._catalogue = catalogue

    async def __call__(self, author: Viewer, content: ScenarioContent) -> ScenarioContent:
        """The content with its base's guidance, frozen; raises `ScenarioInvalid` or `RecordsUnavailable`."""
        sound, wanted = await self._guided(author, checked(content)), dict(content.tiers)
        for tier, model in wanted.items():
            if model not in self._writers:
                known = ", ".join(self._writers)
                raise ScenarioInvalid(f"model_tiers.{tier}", f"there is no such model here; there are {known}")
        for model in await self._tiers.candidates(sound.tier_of(Tier.ROLE_PLAY), author.tenant, wanted):
            self._check_size(model, sound)
        return sound

    async def _guided(self, author: Viewer, content: ScenarioContent) -> ScenarioContent:
        """Another tenant's base is one that is not there."""
        if content.knowledge_base is None:
            return content
        base = await self._catalogue.base(author.tenant, content.knowledge_base)
        if base is None:
            raise ScenarioInvalid("knowledge_base_id", "there is no such knowledge base")
        return replace(content, guidance=base.guidance)

    def _check_size(self, model: str, content: ScenarioContent) -> None:
        try:
            self._writers[model].checked(content)
        except ScenarioInvalid as error:
            if len(self._writers) == 1:
                raise
            raise ScenarioInvalid(error.field, f"{error.detail} (as the model {model} counts)") from error
