"""Where a text is cut before any words are read."""

import pytest

from sessions.domain.added_tokens import AddedToken, Cutter
from sessions.domain.merge_ranks import NotExact


def token(text: str, *, is_plain: bool = True, is_normalized: bool = False) -> AddedToken:
    return AddedToken(text, is_plain, is_normalized)


def test_tokens_are_counted_and_what_is_between_them_comes_back() -> None:
    cutter = Cutter([token("<a>"), token("<b>")], is_normalizing=True)
    assert cutter.cut("<a>x<b><b> y<a>") == (4, ["x", " y"])
    assert cutter.cut("nothing") == (0, ["nothing"])
    assert cutter.cut("") == (0, [])


def test_the_longest_of_several_is_found() -> None:
    assert Cutter([token("<"), token("<a"), token("<a>")], is_normalizing=False).cut("<a><a<") == (3, [])


@pytest.mark.parametrize("tokens", [[], [token("")]])
def test_without_any_the_text_is_whole(tokens: list[AddedToken]) -> None:
    assert Cutter(tokens, is_normalizing=False).cut("a<b") == (0, ["a<b"])
    assert Cutter(tokens, is_normalizing=False).cut("") == (0, [])


@pytest.mark.parametrize(
    ("tokens", "is_normalizing", "why"),
    [
        ([token("a", is_plain=False)], False, "depend on what stands beside"),
        ([token("a", is_normalized=True)], True, "in the normalised text"),
        ([token("a", is_normalized=True), token("b")], False, "in two rounds"),
    ],
)
def test_tokens_that_are_found_otherwise_are_refused(tokens: list[AddedToken], is_normalizing: bool, why: str) -> None:
    with pytest.raises(NotExact, match=why):
        Cutter(tokens, is_normalizing=is_normalizing)
