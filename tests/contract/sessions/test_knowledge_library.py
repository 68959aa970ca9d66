"""What the library promises about writing, on dictionaries and on Postgres."""

import asyncio
from dataclasses import replace

import pytest

from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Chunk, KnowledgeBase, Shelved, Shelving
from sessions.errors import DocumentNotFound, KnowledgeBaseExists, KnowledgeBaseFull, KnowledgeBaseNotFound
from tests.support.knowledge_fixture import Knowledge
from tests.support.knowledge_world import MANY, chunks, document, knowledge_base
from tests.support.records_world import ELSEWHERE, HERE, uuid_of

BASE = knowledge_base()


async def now(knowledge: Knowledge) -> KnowledgeBase:
    found = await knowledge.catalogue.base(HERE.tenant, BASE.id)
    assert found is not None
    return found


async def now_chunks(knowledge: Knowledge) -> list[Chunk]:
    contents = await knowledge.shelf.chunks(HERE.tenant, BASE.id)
    assert contents is not None
    assert contents.version == (await now(knowledge)).version
    return list(contents.chunks)


async def put(knowledge: Knowledge, name: str = "prices", text: str = "A pump costs 48 yuan.") -> Shelved:
    one = document(name, text=text)
    return await knowledge.library.put_document(one, chunks(one, text), max_chunks=MANY)


async def test_the_same_base_again_is_the_first_one(knowledge: Knowledge) -> None:
    again = replace(BASE, id=KnowledgeBaseId(uuid_of("again")))
    assert await knowledge.library.add_base(again) == BASE
    with pytest.raises(KnowledgeBaseExists):
        await knowledge.library.add_base(replace(again, guidance="Another."))
    assert (await knowledge.catalogue.bases(HERE.tenant, limit=10)).items == (BASE,)


async def test_bases_added_at_once_become_one(knowledge: Knowledge) -> None:
    added = await asyncio.gather(
        *(
            knowledge.library.add_base(replace(knowledge_base("new"), id=KnowledgeBaseId(uuid_of(f"new {number}"))))
            for number in range(6)
        )
    )
    assert len({base.id for base in added}) == 1


async def test_a_document_is_counted_and_makes_a_new_version(knowledge: Knowledge) -> None:
    assert await put(knowledge) == Shelved(document(), Shelving.ADDED)
    assert await now(knowledge) == replace(BASE, version=2, document_count=1, chunk_count=2)
    assert await now_chunks(knowledge) == chunks(document())


async def test_a_document_that_says_the_same_changes_nothing(knowledge: Knowledge) -> None:
    await put(knowledge)
    before = await now(knowledge)
    again = replace(document(), id=DocumentId(uuid_of("again")))
    shelved = await knowledge.library.put_document(
        again, [replace(c, document=again.id) for c in chunks(again)], max_chunks=0
    )
    assert shelved == Shelved(document(), Shelving.UNCHANGED)
    assert await now(knowledge) == before


async def test_a_document_of_the_same_name_takes_the_place_of_the_earlier_one(knowledge: Knowledge) -> None:
    await put(knowledge)
    await put(knowledge, "terms", "Thirty days.")
    newer = await put(knowledge, text="A pump costs 52 yuan.")
    assert newer.shelving is Shelving.REPLACED
    assert newer.document.id != document().id
    assert await knowledge.catalogue.document(HERE.tenant, BASE.id, document().id) is None
    assert list(await knowledge.shelf.chunks_of(HERE.tenant, BASE.id, document().id)) == []
    assert await now(knowledge) == replace(BASE, version=4, document_count=2, chunk_count=4)
    told = [chunk.text for chunk in await now_chunks(knowledge)]
    assert sum("52" in text for text in told) == 2
    assert not any("48" in text for text in told)


async def test_a_base_that_is_full_takes_no_more_and_stays_as_it_is(knowledge: Knowledge) -> None:
    await put(knowledge)
    before = await now(knowledge)
    more = document("terms", text="Thirty days.")
    with pytest.raises(KnowledgeBaseFull) as caught:
        await knowledge.library.put_document(more, chunks(more), max_chunks=3)
    assert (caught.value.chunks, caught.value.limit) == (4, 3)
    assert await now(knowledge) == before
    instead = document(text="A pump costs 52 yuan.")
    assert (await knowledge.library.put_document(instead, chunks(instead), max_chunks=2)).shelving is Shelving.REPLACED


async def test_documents_put_at_once_are_all_counted(knowledge: Knowledge) -> None:
    done = await asyncio.gather(*(put(knowledge, f"document {number}") for number in range(8)))
    assert {shelved.shelving for shelved in done} == {Shelving.ADDED}
    assert await now(knowledge) == replace(BASE, version=9, document_count=8, chunk_count=16)


async def test_one_document_put_by_many_at_once_is_there_once(knowledge: Knowledge) -> None:
    done = await asyncio.gather(*(put(knowledge) for _ in range(6)))
    assert sorted(shelved.shelving for shelved in done) == ["added", *["unchanged"] * 5]
    assert (await now(knowledge)).document_count == 1


async def test_a_document_that_is_removed_is_gone(knowledge: Knowledge) -> None:
    await put(knowledge)
    await knowledge.library.remove_document(HERE.tenant, BASE.id, document().id)
    assert await now(knowledge) == replace(BASE, version=3)
    assert await now_chunks(knowledge) == []
    with pytest.raises(DocumentNotFound):
        await knowledge.library.remove_document(HERE.tenant, BASE.id, document().id)
    assert (await now(knowledge)).version == 3


async def test_a_base_that_is_removed_takes_everything_with_it(knowledge: Knowledge) -> None:
    await put(knowledge)
    await knowledge.library.remove_base(HERE.tenant, BASE.id)
    assert await knowledge.catalogue.base(HERE.tenant, BASE.id) is None
    assert await knowledge.catalogue.document(HERE.tenant, BASE.id, document().id) is None
    assert await knowledge.shelf.chunks(HERE.tenant, BASE.id) is None
    with pytest.raises(KnowledgeBaseNotFound):
        await put(knowledge)
    with pytest.raises(KnowledgeBaseNotFound):
        await knowledge.library.remove_base(HERE.tenant, BASE.id)


async def test_nothing_of_another_tenant_can_be_changed(knowledge: Knowledge) -> None:
    """By whatever mixture of ids: tenant, base and document have to belong together."""
    await put(knowledge)
    theirs = knowledge_base(people=ELSEWHERE)
    before = await now(knowledge)
    stranger = replace(document("stranger"), tenant=ELSEWHERE.tenant, created_by=ELSEWHERE.instructor)
    with pytest.raises(KnowledgeBaseNotFound):
        await knowledge.library.put_document(stranger, chunks(stranger), max_chunks=MANY)
    with pytest.raises(KnowledgeBaseNotFound):
        await knowledge.library.remove_document(ELSEWHERE.tenant, BASE.id, document().id)
    with pytest.raises(DocumentNotFound):
        await knowledge.library.remove_document(ELSEWHERE.tenant, theirs.id, document().id)
    with pytest.raises(KnowledgeBaseNotFound):
        await knowledge.library.remove_base(ELSEWHERE.tenant, BASE.id)
    await knowledge.library.set_vectors(ELSEWHERE.tenant, document().id, "embedder", {1: b"theirs"})
    assert await now(knowledge) == before
    assert len(await now_chunks(knowledge)) == 2
    assert await knowledge.shelf.vectors(HERE.tenant, BASE.id, "embedder") == {}


async def test_one_name_may_be_used_by_each_tenant(knowledge: Knowledge) -> None:
    await put(knowledge)
    theirs = document(of=knowledge_base(people=ELSEWHERE), text="A pump costs 99 yuan.")
    shelved = await knowledge.library.put_document(theirs, chunks(theirs), max_chunks=MANY)
    assert shelved == Shelved(theirs, Shelving.ADDED)
    assert (await now(knowledge)).document_count == 1


async def test_vectors_are_kept_per_model_and_go_with_their_document(knowledge: Knowledge) -> None:
    await put(knowledge)
    one = document().id
    await knowledge.library.set_vectors(HERE.tenant, one, "embedder", {1: b"\x00\xff", 2: b"b", 3: b"no such chunk"})
    assert await knowledge.shelf.vectors(HERE.tenant, BASE.id, "embedder") == {(one, 1): b"\x00\xff", (one, 2): b"b"}
    await knowledge.library.set_vectors(HERE.tenant, one, "newer", {2: b"c"})
    await knowledge.library.set_vectors(HERE.tenant, one, "newer", {})
    assert await knowledge.shelf.vectors(HERE.tenant, BASE.id, "embedder") == {(one, 1): b"\x00\xff"}
    assert await knowledge.shelf.vectors(HERE.tenant, BASE.id, "newer") == {(one, 2): b"c"}
    assert (await now(knowledge)).version == 2
    await put(knowledge, text="A pump costs 52 yuan.")
    assert await knowledge.shelf.vectors(HERE.tenant, BASE.id, "newer") == {}
