import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.conduct.faults import LASTING, OF_A_REPLICA, Fault, FaultKind, UnknownFault, fault_of, faults_of

seconds = st.floats(0, 1e5).map(lambda value: float(f"{value:g}"))


@st.composite
def faults(draw: st.DrawFn) -> Fault:
    kind = draw(st.sampled_from(FaultKind))
    target = draw(st.from_regex(r"replica-[1-9]", fullmatch=True))
    lasts = draw(st.floats(0.5, 100).map(lambda value: float(f"{value:g}"))) if kind in LASTING else 0.0
    if kind is FaultKind.LATE_BOOKING:
        target = str(draw(st.integers(1, 1000)))
    elif kind not in OF_A_REPLICA:
        target = fault_of(f"{kind}@0").target
    return Fault(kind=kind, at_s=draw(seconds), target=target, lasts_s=lasts)


@given(faults())
def test_a_fault_is_read_as_it_is_written(fault: Fault) -> None:
    assert fault_of(str(fault)) == fault


def test_what_is_not_said_is_usual() -> None:
    assert fault_of("kill@60") == Fault(kind=FaultKind.KILL, at_s=60, target="replica-1")
    assert fault_of("freeze@5:gpu-2") == Fault(kind=FaultKind.FREEZE, at_s=5, target="gpu-2", lasts_s=10)
    assert fault_of("redis-flush@1.5") == Fault(kind=FaultKind.REDIS_FLUSH, at_s=1.5, target="redis")
    assert fault_of("gateway-kill@0").target == "gateway"
    assert fault_of("postgres-restart@0").target == "postgres"
    assert fault_of("slow@1:10.0.0.7:8000").target == "10.0.0.7:8000"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("kill", "KIND@SECONDS"),
        ("kill@", "KIND@SECONDS"),
        ("", "KIND@SECONDS"),
        ("burn@60", "unknown kind burn"),
        ("kill@soon", "soon is no number"),
        ("kill@nan", "nan is no number"),
        ("kill@-1", "-1 is no number"),
        ("freeze@1+inf", "inf is no number"),
        ("kill@60+5", "happens at once"),
        ("redis-flush@60:replica-1", "concerns no replica"),
        ("late-booking@0", "for how many"),
        ("late-booking@0:0", "for how many"),
    ],
)
def test_other_words_are_refused_with_a_reason(words: str, why: str) -> None:
    with pytest.raises(UnknownFault, match=why):
        fault_of(words)


def test_faults_come_in_the_order_of_time() -> None:
    read = faults_of(["freeze@9", "kill@3", "redis-flush@5"])
    assert [fault.at_s for fault in read] == [3, 5, 9]
    assert all(math.isfinite(fault.lasts_s) for fault in read)
