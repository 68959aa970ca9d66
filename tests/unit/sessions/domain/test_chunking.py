"""Cutting documents: nothing is lost, nothing is too long, and what belongs together stays together."""

import re
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.chunking import MAX_HEADING_CHARACTERS, Block, Piece, cleaned, pieces


def words(text: str) -> int:
    """A token a word, and one for each Chinese character."""
    return len(re.findall(r"[一-鿿]|[^\s一-鿿]+", text))


def halves(text: str) -> int:
    """Pairs of characters in a row of digits, whole words else: joined texts may have more tokens than apart."""
    return sum(-(-len(run) // 2) if run.isdigit() else 1 for run in re.findall(r"\d+|[^\s\d]+", text))


def cut(*texts: str, most: int = 10, overlap: int = 4, headings: tuple[str, ...] = ()) -> list[Piece]:
    return pieces([Block(headings, text) for text in texts], max_tokens=most, overlap_tokens=overlap, count=words)


def texts(found: Sequence[Piece]) -> list[str]:
    return [piece.text for piece in found]


def bare(text: str) -> str:
    return "".join(text.split())


def test_blocks_that_fit_share_a_chunk() -> None:
    assert texts(cut("One two three.", "Four five.", "- six")) == ["One two three.\nFour five.\n- six"]


def test_a_block_that_does_not_fit_begins_the_next_chunk_whole() -> None:
    assert texts(cut("a b c d e f", "g h i j k", "l")) == ["a b c d e f", "g h i j k\nl"]


def test_a_heading_begins_a_chunk() -> None:
    blocks = [Block(("Prices",), "Ten yuan."), Block(("Prices", "Discounts"), "None."), Block(("Prices",), "Bye.")]
    found = pieces(blocks, max_tokens=50, overlap_tokens=5, count=words)
    assert [(piece.heading, piece.text) for piece in found] == [
        ("Prices", "Ten yuan."),
        ("Prices > Discounts", "None."),
        ("Prices", "Bye."),
    ]


def test_a_long_paragraph_is_cut_between_sentences_and_says_the_last_one_again() -> None:
    found = cut("We sell pumps here. They cost 3.5 yuan. Nobody returns them ever. We like that.")
    assert texts(found) == [
        "We sell pumps here. They cost 3.5 yuan.",
        "They cost 3.5 yuan. Nobody returns them ever.",
        "Nobody returns them ever. We like that.",
    ]
    assert [piece.text[piece.overlap :].strip() for piece in found] == [
        "We sell pumps here. They cost 3.5 yuan.",
        "Nobody returns them ever.",
        "We like that.",
    ]


def test_chinese_sentences_end_without_blanks() -> None:
    assert texts(cut("我们卖水泵。价格很低!你要几台?三台就好。", most=12, overlap=6)) == [
        "我们卖水泵。价格很低!",
        "价格很低!你要几台?",
        "你要几台?三台就好。",
    ]


def test_a_last_sentence_that_is_long_is_not_said_again() -> None:
    assert texts(cut("a b c d e f. g h i j k l. m n.", overlap=4)) == ["a b c d e f.", "g h i j k l. m n."]


def test_what_was_said_before_gives_way_where_it_does_not_fit() -> None:
    assert texts(cut("a b c. d e f. g h i j k l m n o.", most=9, overlap=4)) == ["a b c. d e f.", "g h i j k l m n o."]


def test_a_long_sentence_is_cut_between_words_and_a_long_word_anywhere() -> None:
    assert texts(cut("a b c d e f g", most=3)) == ["a b c", "d e f", "g"]
    assert texts(pieces([Block((), "x" * 9)], max_tokens=4, overlap_tokens=1, count=len)) == ["xxxx", "xx", "xxx"]


def test_blanks_alone_are_no_piece() -> None:
    assert texts(pieces([Block((), "a.   bbbb")], max_tokens=4, overlap_tokens=0, count=len)) == ["a.", "bbbb"]


def test_a_character_with_more_tokens_than_a_chunk_stands_alone() -> None:
    found = pieces([Block((), "ab")], max_tokens=2, overlap_tokens=1, count=lambda text: 3 * len(text))
    assert [(piece.text, piece.tokens) for piece in found] == [("a", 3), ("b", 3)]


def test_short_pieces_follow_a_long_block() -> None:
    assert texts(cut("a", "b c d e f g", "h", most=3)) == ["a", "b c d", "e f g", "h"]


def test_texts_with_more_tokens_together_than_apart_are_parted() -> None:
    """The count of digits at the joint depends on where their row begins."""
    found = pieces([Block((), "1 2 3"), Block((), "4")], max_tokens=5, overlap_tokens=0, count=_greedy)
    assert texts(found) == ["1 2 3", "4"]


def _greedy(text: str) -> int:
    return 9 if "\n" in text else len(text.split())


def test_a_repeated_sentence_that_would_make_a_piece_too_long_is_left_out() -> None:
    def count(text: str) -> int:
        return 9 if text.count(".") == 3 else len(text.split())

    found = pieces([Block((), "a b. c d. e f. g h. i j.")], max_tokens=6, overlap_tokens=3, count=count)
    assert all(piece.tokens <= 6 for piece in found)
    assert bare("".join(piece.text[piece.overlap :] for piece in found)) == "ab.cd.ef.gh.ij."


def test_blank_blocks_and_control_characters_are_gone() -> None:
    assert cut("", " \n ", "\x00") == []
    assert texts(cut("a\x00b\x1bc\u202e\ud800d", "e\r\nf\rg")) == ["abcd\ne\nf\ng"]
    assert cleaned("tab\tstays, \u00e9 and 🙂 too") == "tab\tstays, \u00e9 and 🙂 too"


def test_headings_are_single_lines_of_bounded_length() -> None:
    assert cut("text", headings=(" a \n b ", "\x00", "c"))[0].heading == "a b > c"
    assert len(cut("text", headings=("x" * 1000,))[0].heading) == MAX_HEADING_CHARACTERS


@pytest.mark.parametrize("gap", ["\n\n", "\n", "   "])
def test_blanks_at_a_cut_are_dropped(gap: str) -> None:
    found = cut(f"a b c d e f g h.{gap}i j k l m n.", overlap=0)
    assert texts(found) == ["a b c d e f g h.", "i j k l m n."]


_ALPHABET = st.sampled_from("ab c1 23.。!\n\t我们卖水泵;<|im_start|>\x00é🙂")
_TEXT = st.text(_ALPHABET, max_size=120)
_BLOCKS = st.lists(st.builds(Block, st.lists(_TEXT, max_size=2).map(tuple), _TEXT), max_size=6)


@given(_BLOCKS, st.integers(2, 12), st.integers(0, 8), st.sampled_from([words, halves, len]))
def test_every_character_lands_in_a_chunk_once_and_in_order(blocks, most, overlap, count) -> None:  # type: ignore[no-untyped-def]
    found = pieces(blocks, max_tokens=most, overlap_tokens=overlap, count=count)
    assert bare("".join(piece.text[piece.overlap :] for piece in found)) == bare(
        cleaned("".join(block.text for block in blocks))
    )
    before = ""
    for piece in found:
        assert piece.tokens == count(piece.text)
        assert piece.tokens <= most
        assert piece.text == piece.text.strip()
        assert piece.text
        assert before.endswith(piece.text[: piece.overlap].rstrip())
        before = piece.text


def test_a_page_of_full_stops_is_read_once() -> None:
    begun = time.perf_counter()
    assert bare("".join(texts(cut("." * 40_000 + "a", most=100)))) == "." * 40_000 + "a"
    assert time.perf_counter() - begun < 2  # each of them tried anew: twenty seconds


@pytest.mark.parametrize("text", ["word " * 20_000, "x" * 100_000, "One more sentence. " * 5_000])
def test_a_text_of_any_length_is_never_counted_whole(text: str) -> None:
    longest = 0

    def count(part: str) -> int:
        nonlocal longest
        longest = max(longest, len(part))
        return words(part)

    found = pieces([Block((), text), Block((), "end")], max_tokens=10, overlap_tokens=4, count=count)
    assert found[-1].text.endswith("end")
    assert longest < 5_000
