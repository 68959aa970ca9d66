"""Joints are seen however the stream is cut, and no text makes one up."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.joint_comments import JointComments

STREAM = (
    b'data: {"a":"\\n: drillyard {\\"replica\\":\\"x\\"}"}\n\n'
    b': drillyard {"continued":1,"replica":"b"}\n\n'
    b": something else\n\n"
    b'data: {"b":": drillyard {}"}\n\n'
    b': drillyard {"continued":2,"replica":"c"}\n\ndata: [DONE]\n\n'
)


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_joints_are_seen_whatever_the_cuts(cuts: list[int]) -> None:
    seen, places = JointComments(), [0, *sorted(cuts), len(STREAM)]
    for start, end in pairwise(places):
        seen.feed(STREAM[start:end])
    assert (seen.count, seen.replica) == (2, "c")


def test_a_joint_may_come_first() -> None:
    seen = JointComments()
    seen.feed(b': drillyard {"replica":"b"}\n')
    assert (seen.count, seen.replica) == (1, "b")


def test_what_cannot_be_read_is_none() -> None:
    seen = JointComments()
    for line in (b"nonsense", b"[1]", b'{"replica":3}', b"[" * 100_000, b"{}"):
        seen.feed(b": drillyard " + line + b"\n")
    seen.feed(b": drillyard " + b"x" * 5000)
    seen.feed(b"\n")
    assert (seen.count, seen.replica) == (0, "")
