"""The memory twin beside its contract suite: what it hands out is not changed behind anybody's back."""

from sessions.adapters.memory_knowledge import MemoryKnowledge
from tests.support.knowledge_world import MANY, chunks, document, knowledge_base
from tests.support.records_world import HERE


async def test_what_was_handed_out_stays_as_it_was() -> None:
    memory = MemoryKnowledge()
    base = await memory.add_base(knowledge_base())
    await memory.put_document(document(), chunks(document()), max_chunks=MANY)
    before = await memory.chunks(HERE.tenant, base.id)
    await memory.remove_document(HERE.tenant, base.id, document().id)
    assert before is not None
    assert len(before.chunks) == 2
    after = await memory.chunks(HERE.tenant, base.id)
    assert after is not None
    assert after.chunks == ()
