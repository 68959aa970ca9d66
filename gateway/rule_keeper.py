"""The rules in force, ready for use: which they are is known from memory, and what they say is made ready once."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from uuid import UUID

from typing_extensions import override

from gateway.domain.moderation.policy import Policy, effective
from gateway.moderation_ports import ListDirection, Live, LiveList, RuleKeeper
from gateway.phrase_books import PhraseBooks
from gateway.rule_index import RuleIndex

_MOST_EXPECTED = 256


class KeptRules(RuleKeeper):
    """Who asks while changed rules are made ready waits for them: nobody is answered by rules that are over."""

    def __init__(self, *, index: RuleIndex, books: PhraseBooks, usual: Policy) -> None:
        self._index = index
        self._books = books
        self._usual = usual
        self._expected: OrderedDict[tuple[UUID, UUID | None], None] = OrderedDict()
        """Who asked last, at the end."""
        index.news = self._make_ready

    @override
    async def live(self, tenant: UUID, scenario: UUID | None) -> Live:
        rules = await self._index.of(tenant)
        if rules.lists:
            self._remember(tenant, scenario)
        return Live(
            input=await self._books.of(tenant, _those(rules.lists, scenario, ListDirection.INPUT)),
            output=await self._books.of(tenant, _those(rules.lists, scenario, ListDirection.OUTPUT)),
            policy=effective(rules.policy, self._usual),
        )

    def expect(self, tenant: UUID, scenario: UUID | None) -> None:
        """Somebody is about to ask for these."""
        if self._index.known(tenant).lists:
            self._remember(tenant, scenario)
            self._want(tenant, scenario)

    def gauges(self) -> Mapping[str, float]:
        return {"moderation_rules_age_seconds": self._index.age_s, **self._books.gauges()}

    def counters(self) -> Mapping[str, float]:
        return {"moderation_refresh_failures": self._index.failures, **self._books.counters()}

    def _remember(self, tenant: UUID, scenario: UUID | None) -> None:
        self._expected[tenant, scenario] = None
        self._expected.move_to_end((tenant, scenario))
        if len(self._expected) > _MOST_EXPECTED:
            self._expected.popitem(last=False)

    def _make_ready(self) -> None:
        self._books.want_anew()
        for tenant, scenario in self._expected:
            self._want(tenant, scenario)

    def _want(self, tenant: UUID, scenario: UUID | None) -> None:
        for direction in (ListDirection.INPUT, ListDirection.OUTPUT):
            self._books.want(tenant, _those(self._index.known(tenant).lists, scenario, direction))


def _those(lists: Sequence[LiveList], scenario: UUID | None, direction: ListDirection) -> Sequence[LiveList]:
    return [each for each in lists if each.is_for(scenario, direction)]
