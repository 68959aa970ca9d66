from loadtests.conduct.faults import FaultKind, faults_of
from loadtests.domain.usual_faults import given_faults, usual_faults


def test_a_stack_of_our_own_lives_through_three_faults_within_the_class() -> None:
    found = usual_faults(["a", "b", "c"], length_s=100, is_own=True)
    faults = faults_of(found.words)
    assert [each.kind for each in faults] == [FaultKind.KILL, FaultKind.FREEZE, FaultKind.REDIS_FLUSH]
    assert [each.at_s for each in faults] == [30, 50, 70]
    assert [each.target for each in faults] == ["a", "b", "redis"]
    assert faults[1].lasts_s == 10
    assert found.uncaused == ()


def test_a_single_replica_is_left_alone() -> None:
    found = usual_faults(["a"], length_s=100, is_own=True)
    assert [each.kind for each in faults_of(found.words)] == [FaultKind.REDIS_FLUSH]
    assert found.uncaused == ("a replica killed, a replica frozen: there is no second one to go on for it",)


def test_what_is_not_ours_is_not_broken() -> None:
    found = usual_faults(["a", "b"], length_s=100, is_own=False)
    assert found.words == ()
    assert found.uncaused == ("a replica killed, a replica frozen, an empty Redis: its processes are not ours to end",)


def test_what_was_asked_for_is_broken_and_that_nothing_was_is_said() -> None:
    assert given_faults(("kill@1",)).words == ("kill@1",)
    assert given_faults(("kill@1",)).uncaused == ()
    assert given_faults(()).words == ()
    assert given_faults(()).uncaused == (
        "a replica killed, a replica frozen, an empty Redis: nothing was to be broken",
    )
