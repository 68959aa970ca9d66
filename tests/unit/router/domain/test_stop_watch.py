"""A stop string across a joint is found once, and nothing behind it is told."""

from hypothesis import given
from hypothesis import strategies as st

from router.domain.stop_watch import StopWatch


def fed(watch: StopWatch, *pieces: str) -> str:
    return "".join(watch.feed(piece) for piece in pieces)


def test_a_stop_string_across_the_joint_ends_the_reply_there() -> None:
    watch = StopWatch(["###"], "text #", is_told_itself=False)
    assert fed(watch, "#", "# more", "still") == "#"
    assert watch.found == "###"
    assert watch.ending == {"finish_reason": "stop", "stop_reason": "###"}


def test_it_is_told_where_the_caller_wants_it() -> None:
    watch = StopWatch(["###"], "text #", is_told_itself=True)
    assert fed(watch, "#", "# more", "still") == "##"


def test_one_behind_the_joint_is_the_engines() -> None:
    watch = StopWatch(["##", "b#"], "a", is_told_itself=True)
    assert fed(watch, "", "b##") == "b##"
    assert watch.ending == {}


def test_one_before_the_joint_is_old() -> None:
    watch = StopWatch(["a", "###"], "a", is_told_itself=False)
    assert fed(watch, "b", "c", "d") == "bcd"
    assert watch.found is None


def test_without_stop_strings_all_is_told() -> None:
    assert fed(StopWatch([], "a", is_told_itself=False), "b", "c") == "bc"


@given(
    st.text("ab", max_size=6), st.lists(st.text("ab", max_size=3), max_size=5), st.text("ab", min_size=1, max_size=4)
)
def test_it_is_found_in_pieces_as_in_the_whole(told: str, pieces: list[str], stop: str) -> None:
    watch = StopWatch([stop], told, is_told_itself=False)
    fed(watch, *pieces)
    whole = told + "".join(pieces)
    crossing = [at for at in range(len(whole)) if whole.startswith(stop, at) and at < len(told) < at + len(stop)]
    behind = [at for at in range(len(told), len(whole)) if whole.startswith(stop, at)]
    if crossing and not behind:
        assert watch.found == stop
    if not crossing:
        assert watch.found is None
