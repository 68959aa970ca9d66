"""An answer is the pool's once two replicas gave it; until then the first one is."""

from hypothesis import given
from hypothesis import strategies as st

from router.domain.fleet import ReplicaId
from router.fleet.domain.canary import MOST_ANSWERS, Hearing, KnownAnswer, heard

A, B, C, D = (ReplicaId(name) for name in "ABCD")
REPLICAS = st.sampled_from([A, B, C, D])
HEARD = st.lists(st.tuples(st.sampled_from(["x", "y", "z"]), REPLICAS), max_size=20)


def after(*answers: tuple[str, ReplicaId]) -> Hearing:
    hearing = Hearing((), is_right=False)
    for answer, replica in answers:
        hearing = heard(hearing.known, answer, replica)
    return hearing


def test_the_first_answer_is_the_reference() -> None:
    assert after(("x", A)) == Hearing((KnownAnswer("x", A),), is_right=True)


def test_another_answer_is_wrong_and_the_same_one_right() -> None:
    assert after(("x", A), ("x", B)) == Hearing((KnownAnswer("x", A, is_confirmed=True),), is_right=True)
    assert not after(("x", A), ("y", B)).is_right
    assert not after(("x", A), ("x", B), ("y", C)).is_right


def test_a_replica_that_says_it_again_confirms_nothing() -> None:
    again = after(("x", A), ("y", B), ("y", B))
    assert not again.is_right
    assert not any(one.is_confirmed for one in again.known)


def test_two_that_agree_outvote_the_first() -> None:
    third = after(("x", A), ("y", B), ("y", C))
    assert third.is_right
    assert third.outvoted == A
    assert not heard(third.known, "z", D).is_right
    assert heard(third.known, "y", D) == Hearing(third.known, is_right=True)


def test_what_two_gave_stays_right_whatever_two_others_give() -> None:
    mixed = after(("x", A), ("x", B), ("y", C), ("y", D))
    assert mixed.is_right
    assert mixed.outvoted is None
    assert heard(mixed.known, "x", C).is_right


def test_who_was_outvoted_is_right_once_another_says_the_same() -> None:
    outvoted = after(("x", A), ("y", B), ("y", C))
    assert not heard(outvoted.known, "x", A).is_right
    assert heard(outvoted.known, "x", D).is_right


def test_an_engine_that_never_says_the_same_fills_no_table() -> None:
    hearing = after(*((f"answer {number}", B if number else A) for number in range(50)))
    assert len(hearing.known) == MOST_ANSWERS
    assert hearing.known[0].answer == "answer 0"
    assert hearing.known[-1].answer == "answer 49"


def test_where_all_that_is_kept_is_confirmed_the_first_gives_way() -> None:
    kept = tuple(KnownAnswer(f"answer {number}", A, is_confirmed=True) for number in range(MOST_ANSWERS))
    assert [one.answer for one in heard(kept, "new", B).known] == [*(f"answer {n}" for n in range(1, 8)), "new"]


@given(answers=HEARD, answer=st.sampled_from(["x", "y", "z"]))
def test_a_third_replica_is_right_with_whatever_two_have_said(
    answers: list[tuple[str, ReplicaId]], answer: str
) -> None:
    witnesses = {replica for said, replica in answers if said == answer}
    hearing = heard(after(*answers).known, answer, D)
    assert hearing.is_right or len(witnesses - {D}) < 1 + (D not in witnesses)
    assert len({one.answer for one in hearing.known}) == len(hearing.known)
