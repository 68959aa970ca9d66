"""Reading and listing the documents of a base."""

import pytest

from sessions.errors import DocumentNotFound, KnowledgeBaseNotFound
from sessions.use_cases.read_document import ListDocuments, ReadDocument
from tests.support.knowledge_house import KnowledgeHouse
from tests.support.records_world import ELSEWHERE, HERE


async def test_documents_are_read_and_listed_in_their_base_by_its_tenant_only() -> None:
    house = KnowledgeHouse()
    base, other = await house.base("products"), await house.base("other")
    first = (await house.put(base, "A pump costs 48 yuan.", "prices")).document
    second = (await house.put(base, "Thirty days.", "terms")).document
    read, every = ReadDocument(catalogue=house.knowledge), ListDocuments(catalogue=house.knowledge)
    assert await read(HERE.teacher, base, first.id) == first
    page = await every(HERE.teacher, base, 1)
    assert page.items == (second,)
    assert (await every(HERE.teacher, base, 1, page.next)).items == (first,)
    assert (await every(HERE.teacher, other, 10)).items == ()
    with pytest.raises(DocumentNotFound):
        await read(HERE.teacher, other, first.id)
    with pytest.raises(KnowledgeBaseNotFound):
        await read(ELSEWHERE.teacher, base, first.id)
    with pytest.raises(KnowledgeBaseNotFound):
        await every(ELSEWHERE.teacher, base, 10)
