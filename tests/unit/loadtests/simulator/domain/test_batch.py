"""What one engine step computes."""

from loadtests.simulator.domain.batch import Batch
from loadtests.simulator.domain.sequence import Sequence
from loadtests.simulator.domain.timing import Chunk
from tests.support.simulated import a_generation


def a_sequence(number: int) -> Sequence:
    return Sequence(a_generation(str(number), range(6)), number=number, window=64, arrived_s=0)


def speaking(number: int) -> Sequence:
    sequence = a_sequence(number)
    sequence.computed = 6
    sequence.say(1.0)
    return sequence


def test_prompts_and_replies_are_told_apart() -> None:
    batch = Batch(budget=20)
    batch.add(a_sequence(1), 4, opens=True)
    batch.add(speaking(2), 1)
    assert batch.chunks == [Chunk(4, 0, opens=True)]
    assert (batch.decoding, batch.prefill_tokens, batch.tokens, batch.room) == (1, 4, 5, 15)
    assert [share.speaks for share in batch] == [False, True]


def test_what_is_dropped_gives_its_room_back() -> None:
    batch = Batch(budget=20)
    sequence = a_sequence(1)
    batch.add(sequence, 6, opens=True)
    batch.drop(sequence)
    batch.drop(sequence)
    assert batch.room == 20
    assert not batch
