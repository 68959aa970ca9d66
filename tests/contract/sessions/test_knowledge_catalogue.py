"""What the catalogue promises about bases and documents, on dictionaries and on Postgres."""

from dataclasses import replace
from datetime import timedelta

from sessions.domain.knowledge import MediaType
from sessions.domain.page import Cursor
from tests.support.knowledge_fixture import Knowledge
from tests.support.knowledge_world import MANY, chunks, document, knowledge_base
from tests.support.records_world import ELSEWHERE, HERE, NOON

BASE = knowledge_base()


async def test_bases_and_documents_come_back_as_they_were_written(knowledge: Knowledge) -> None:
    one = replace(document("价目表 ' %s :x"), flagged_chunks=1)
    await knowledge.library.put_document(one, chunks(one), max_chunks=MANY)
    assert await knowledge.catalogue.base(ELSEWHERE.tenant, knowledge_base(people=ELSEWHERE).id) == knowledge_base(
        people=ELSEWHERE
    )
    found = await knowledge.catalogue.document(HERE.tenant, BASE.id, one.id)
    assert found == one
    assert found is not None
    assert found.media_type is MediaType.TEXT


async def test_nothing_of_another_tenant_or_base_is_there(knowledge: Knowledge) -> None:
    other = await knowledge.library.add_base(knowledge_base("other"))
    await knowledge.library.put_document(document(), chunks(document()), max_chunks=MANY)
    assert await knowledge.catalogue.base(ELSEWHERE.tenant, BASE.id) is None
    assert await knowledge.catalogue.document(ELSEWHERE.tenant, BASE.id, document().id) is None
    assert await knowledge.catalogue.document(HERE.tenant, other.id, document().id) is None
    for tenant, base in ((ELSEWHERE.tenant, BASE.id), (HERE.tenant, other.id)):
        page = await knowledge.catalogue.documents(tenant, base, limit=10)
        assert (page.items, page.next) == ((), None)


async def test_bases_are_listed_newest_first_in_pages(knowledge: Knowledge) -> None:
    named = [
        await knowledge.library.add_base(knowledge_base(name, at=NOON + timedelta(hours=hours)))
        for hours, name in enumerate("abc")
    ]
    await knowledge.library.add_base(knowledge_base("theirs", ELSEWHERE, at=NOON + timedelta(hours=9)))
    first = await knowledge.catalogue.bases(HERE.tenant, limit=2)
    assert first.items == (named[2], named[1])
    assert first.next == Cursor(named[1].created_at, named[1].id)
    rest = await knowledge.catalogue.bases(HERE.tenant, limit=10, after=first.next)
    assert set(rest.items) == {named[0], BASE}
    assert rest.next is None


async def test_documents_are_listed_newest_first_in_pages(knowledge: Knowledge) -> None:
    written = [document(f"d{minutes}", minutes=minutes) for minutes in range(4)]
    for one in written:
        await knowledge.library.put_document(one, chunks(one), max_chunks=MANY)
    first = await knowledge.catalogue.documents(HERE.tenant, BASE.id, limit=3)
    assert list(first.items) == written[:0:-1]
    last = await knowledge.catalogue.documents(HERE.tenant, BASE.id, limit=3, after=first.next)
    assert list(last.items) == written[:1]
    assert last.next is None
