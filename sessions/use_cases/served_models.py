"""Which model serves a kind of work, together with the writer that knows its tokens and its window."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sessions.domain.scenario import ScenarioContent
from sessions.domain.tiers import Chosen, Tier
from sessions.domain.viewer import TenantId
from sessions.ports import Tiers
from sessions.prompt_writer import PromptWriter


class Serving(NamedTuple):
    """A model that serves a piece of work, with what writes its prompts."""

    chosen: Chosen
    writer: PromptWriter


class ServedModels:
    """`writers` has every model that `tiers` may name."""

    def __init__(self, *, tiers: Tiers, writers: Mapping[str, PromptWriter]) -> None:
        self._tiers = tiers
        self._writers = writers

    async def choose(
        self, tier: Tier, tenant: TenantId, content: ScenarioContent, *, lost: Collection[str] = ()
    ) -> Serving:
        """`lost` are models that were just asked in vain. Raises `PoolUnavailable` or `RecordsUnavailable`."""
        chosen = await self._tiers.choose(content.tier_of(tier), tenant, dict(content.tiers), lost=lost)
        return Serving(chosen, self._writers[chosen.model])
