"""What the shelf promises about text, on dictionaries and on Postgres."""

from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.knowledge_shelf import PostgresShelf
from sessions.domain.knowledge import Chunk
from sessions.errors import RecordsUnavailable
from tests.support.knowledge_fixture import Knowledge
from tests.support.knowledge_world import MANY, chunks, document, knowledge_base
from tests.support.records_world import ELSEWHERE, HERE

BASE = knowledge_base()


async def test_chunks_come_back_as_they_were_written_by_document_and_number(knowledge: Knowledge) -> None:
    later, earlier = document("a", minutes=2), document("b", minutes=1)
    for one in (later, earlier):
        await knowledge.library.put_document(one, chunks(one)[::-1], max_chunks=MANY)
    contents = await knowledge.shelf.chunks(HERE.tenant, BASE.id)
    assert contents is not None
    assert contents.version == await knowledge.shelf.version(HERE.tenant, BASE.id) == 3
    assert list(contents.chunks) == [*chunks(earlier), *chunks(later)]
    assert list(await knowledge.shelf.chunks_of(HERE.tenant, BASE.id, later.id)) == chunks(later)


async def test_a_base_without_documents_is_empty_and_one_that_is_not_there_is_none(knowledge: Knowledge) -> None:
    contents = await knowledge.shelf.chunks(HERE.tenant, BASE.id)
    assert contents is not None
    assert (contents.version, contents.chunks) == (1, ())
    nowhere = knowledge_base("nowhere").id
    assert await knowledge.shelf.version(HERE.tenant, nowhere) is None
    assert await knowledge.shelf.chunks(HERE.tenant, nowhere) is None
    assert list(await knowledge.shelf.chunks_of(HERE.tenant, BASE.id, document().id)) == []


async def test_a_base_of_more_chunks_than_are_read_in_one_go_is_there_as_a_whole(knowledge: Knowledge) -> None:
    long = replace(document(), chunk_count=1_001)
    written = [Chunk(long.id, long.name, number, "", f"Part {number}.", 3) for number in range(1, 1_002)]
    await knowledge.library.put_document(long, written, max_chunks=2_000)
    contents = await knowledge.shelf.chunks(HERE.tenant, BASE.id)
    assert contents is not None
    assert list(contents.chunks) == written
    assert list(await knowledge.shelf.chunks_of(HERE.tenant, BASE.id, long.id)) == written
    part = await knowledge.shelf.chunks_of(HERE.tenant, BASE.id, long.id, first=499, last=502)
    assert [chunk.number for chunk in part] == [499, 500, 501, 502]
    assert [chunk.number for chunk in await knowledge.shelf.chunks_of(HERE.tenant, BASE.id, long.id, first=1001)] == [
        1001
    ]
    vectors = {number: b"%d" % number for number in range(1, 1_002)}
    await knowledge.library.set_vectors(HERE.tenant, long.id, "embedder", vectors)
    kept = await knowledge.shelf.vectors(HERE.tenant, BASE.id, "embedder")
    assert kept == {(long.id, number): vector for number, vector in vectors.items()}


async def test_nothing_of_another_tenant_or_base_is_shown(knowledge: Knowledge) -> None:
    other = await knowledge.library.add_base(knowledge_base("other"))
    theirs = knowledge_base(people=ELSEWHERE).id
    await knowledge.library.put_document(document(), chunks(document()), max_chunks=MANY)
    await knowledge.library.set_vectors(HERE.tenant, document().id, "embedder", {1: b"x"})
    assert await knowledge.shelf.version(ELSEWHERE.tenant, BASE.id) is None
    assert await knowledge.shelf.chunks(ELSEWHERE.tenant, BASE.id) is None
    for tenant, base in ((ELSEWHERE.tenant, BASE.id), (ELSEWHERE.tenant, theirs), (HERE.tenant, other.id)):
        assert list(await knowledge.shelf.chunks_of(tenant, base, document().id)) == []
        assert await knowledge.shelf.vectors(tenant, base, "embedder") == {}
    contents = await knowledge.shelf.chunks(ELSEWHERE.tenant, theirs)
    assert contents is not None
    assert contents.chunks == ()


@pytest.mark.postgres
async def test_a_database_that_is_away_is_told_in_our_words(database_engine: AsyncEngine) -> None:
    shelf = PostgresShelf(engine=database_engine, limit_s=0.0)
    with pytest.raises(RecordsUnavailable):
        await shelf.version(HERE.tenant, BASE.id)
