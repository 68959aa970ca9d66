"""Creating a knowledge base, once and again."""

import pytest

from sessions.errors import KnowledgeBaseExists, KnowledgeInvalid
from tests.support.knowledge_house import KnowledgeHouse
from tests.support.records_world import ELSEWHERE, HERE


async def test_a_new_base_is_empty_and_its_authors() -> None:
    house = KnowledgeHouse()
    made, is_new = await house.create(HERE.teacher, " 产品 ", " Quote prices exactly. ")
    assert is_new
    assert (made.name, made.guidance, made.version) == ("产品", "Quote prices exactly.", 1)
    assert (made.tenant, made.created_by) == (HERE.tenant, HERE.instructor)
    assert (made.document_count, made.chunk_count) == (0, 0)
    assert await house.knowledge.base(HERE.tenant, made.id) == made


async def test_the_same_one_again_is_the_first_one() -> None:
    house = KnowledgeHouse()
    first, _ = await house.create(HERE.teacher, "products")
    again, is_new = await house.create(HERE.teacher, "products ")
    assert (again, is_new) == (first, False)
    theirs, is_new = await house.create(ELSEWHERE.teacher, "products")
    assert is_new
    assert theirs.id != first.id
    with pytest.raises(KnowledgeBaseExists):
        await house.create(HERE.teacher, "products", "Another guidance.")


async def test_what_could_not_be_used_is_refused() -> None:
    house = KnowledgeHouse()
    for name, guidance, field in ((" ", "", "name"), ("products", "x" * 5000, "guidance")):
        with pytest.raises(KnowledgeInvalid) as caught:
            await house.create(HERE.teacher, name, guidance)
        assert caught.value.field == field
