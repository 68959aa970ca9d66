"""Removing a knowledge base."""

import pytest

from sessions.errors import KnowledgeBaseNotFound
from sessions.use_cases.remove_knowledge_base import RemoveKnowledgeBase
from tests.support.knowledge_house import KnowledgeHouse
from tests.support.records_world import ELSEWHERE, HERE


async def test_a_base_is_removed_by_its_tenant_only() -> None:
    house = KnowledgeHouse()
    base = await house.base()
    await house.put(base, "A pump costs 48 yuan.")
    remove = RemoveKnowledgeBase(library=house.knowledge)
    with pytest.raises(KnowledgeBaseNotFound):
        await remove(ELSEWHERE.teacher, base)
    assert await house.knowledge.version(HERE.tenant, base) == 2
    await remove(HERE.teacher, base)
    assert await house.knowledge.version(HERE.tenant, base) is None
    assert await house.base() != base
