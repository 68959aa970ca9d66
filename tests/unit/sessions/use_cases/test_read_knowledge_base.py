"""Reading and listing knowledge bases of one's own tenant."""

import pytest

from sessions.errors import KnowledgeBaseNotFound
from sessions.use_cases.read_knowledge_base import ListKnowledgeBases, ReadKnowledgeBase
from tests.support.knowledge_house import KnowledgeHouse
from tests.support.records_world import ELSEWHERE, HERE


async def test_a_base_is_read_and_listed_by_its_tenant_only() -> None:
    house = KnowledgeHouse()
    first, second = await house.base("first"), await house.base("second")
    read, every = ReadKnowledgeBase(catalogue=house.knowledge), ListKnowledgeBases(catalogue=house.knowledge)
    assert (await read(HERE.teacher, first)).name == "first"
    page = await every(HERE.teacher, 1)
    assert [base.id for base in page.items] == [second]
    assert [base.id for base in (await every(HERE.teacher, 1, page.next)).items] == [first]
    assert (await every(ELSEWHERE.teacher, 10)).items == ()
    with pytest.raises(KnowledgeBaseNotFound):
        await read(ELSEWHERE.teacher, first)
