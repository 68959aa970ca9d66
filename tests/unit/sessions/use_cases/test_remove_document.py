"""Removing a document."""

import pytest

from sessions.errors import DocumentNotFound, KnowledgeBaseNotFound
from sessions.use_cases.remove_document import RemoveDocument
from tests.support.knowledge_house import KnowledgeHouse
from tests.support.records_world import ELSEWHERE, HERE


async def test_a_document_is_removed_from_its_base_by_its_tenant_only() -> None:
    house = KnowledgeHouse()
    base, other, theirs = await house.base(), await house.base("other"), await house.base(people=ELSEWHERE)
    document = (await house.put(base, "A pump costs 48 yuan.")).document.id
    remove = RemoveDocument(library=house.knowledge)
    with pytest.raises(KnowledgeBaseNotFound):
        await remove(ELSEWHERE.teacher, base, document)
    with pytest.raises(DocumentNotFound):
        await remove(ELSEWHERE.teacher, theirs, document)
    with pytest.raises(DocumentNotFound):
        await remove(HERE.teacher, other, document)
    assert await house.knowledge.version(HERE.tenant, base) == 2
    await remove(HERE.teacher, base, document)
    contents = await house.knowledge.chunks(HERE.tenant, base)
    assert contents is not None
    assert (contents.version, contents.chunks) == (3, ())
