"""The ring of decisions keeps the last ones; the rest of the promise is in the contract suite."""

from router.adapters.memory_decisions import MemoryDecisions
from router.domain.decision import Decision


async def test_one_that_is_written_again_counts_as_new() -> None:
    log = MemoryDecisions(most=2)
    for request_id in ("a", "b", "a", "c"):
        log.write(Decision(request_id, "m", 0.0))
    assert [await log.find(request_id) is not None for request_id in "abc"] == [True, False, True]
