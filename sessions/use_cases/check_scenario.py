"""Whether a scenario can be played: by itself, on its knowledge base, and by every model that may come to play it."""

from collections.abc import Mapping
from dataclasses import replace

from sessions.domain.scenario import ScenarioContent, ScenarioId, checked
from sessions.domain.tiers import Tier
from sessions.domain.viewer import Viewer
from sessions.errors import ScenarioInvalid
from sessions.knowledge_ports import Catalogue
from sessions.moderation_ports import Moderation
from sessions.ports import Tiers
from sessions.prompt_writer import PromptWriter


class CheckScenario:
    """`writers` holds the prompt writer of each served model."""

    def __init__(
        self, *, writers: Mapping[str, PromptWriter], tiers: Tiers, catalogue: Catalogue, moderation: Moderation
    ) -> None:
        self._writers = writers
        self._tiers = tiers
        self._catalogue = catalogue
        self._moderation = moderation

    async def __call__(
        self, author: Viewer, content: ScenarioContent, scenario: ScenarioId | None = None
    ) -> ScenarioContent:
        """The content with its opening as it may be shown, and its base's guidance, frozen; of this scenario, if it is
        there already. Raises `ScenarioInvalid`, `ModerationUnavailable` or `RecordsUnavailable`.
        """
        sound = await self._opened(author, await self._guided(author, checked(content)), scenario)
        wanted = dict(content.tiers)
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

    async def _opened(self, author: Viewer, content: ScenarioContent, scenario: ScenarioId | None) -> ScenarioContent:
        """What trainees are shown first is checked like a reply."""
        rules = await self._moderation.rules(author.tenant, scenario)
        found = await rules.written(content.opening)
        if found.blocked is not None:
            raise ScenarioInvalid("opening", f"moderation stops it: {found.blocked}")
        return content if found.text == content.opening else replace(content, opening=found.text)

    def _check_size(self, model: str, content: ScenarioContent) -> None:
        try:
            self._writers[model].checked(content)
        except ScenarioInvalid as error:
            if len(self._writers) == 1:
                raise
            raise ScenarioInvalid(error.field, f"{error.detail} (as the model {model} counts)") from error
