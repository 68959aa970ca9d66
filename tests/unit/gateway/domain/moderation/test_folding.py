"""How single characters are read."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.moderation.folding import Folding, Kind, is_voicing, joined
from gateway.domain.moderation.han_variants import SIMPLIFIED, TRADITIONAL
from gateway.domain.moderation.lookalikes import LOOKALIKES

FOLDING = Folding()
STAND_INS = Folding(stand_ins=True)


def read(char: str, folding: Folding = FOLDING) -> str:
    return "".join(glyph.char for glyph in folding[char])


@pytest.mark.parametrize(
    ("written", "reads"),
    [
        *(
            ("A", "a"),
            ("ß", "ss"),
            ("é", "e"),
            ("İ", "i"),
            ("ﬁ", "fi"),
            ("Ｓ", "s"),
            ("𝐬", "s"),
            ("ⓢ", "s"),
            ("🅢", "s"),
        ),
        *(("а", "a"), ("Н", "h"), ("Ν", "n"), ("ν", "v"), ("ꓢ", "s"), ("ꮪ", "s"), ("ꜱ", "s"), ("ł", "l"), ("æ", "ae")),
        *(("٣", "3"), ("➂", "3"), ("²", "2"), ("Ⅷ", "viii")),
        *(("輪", "轮"), ("発", "发"), ("畧", "略"), ("㊙", "秘"), ("⼈", "人"), ("豈", "岂"), ("ㄅ", "ㄅ")),
        *(("ガ", "ガ"), ("ｶ", "カ"), ("각", "각"), ("㈎", " 가 "), ("ㄱ", "\u1100")),
        *(
            ("\u200b", ""),
            ("\u00ad", ""),
            ("\u202e", ""),
            ("\ufe0f", ""),
            ("\u0301", ""),
            ("\u20e3", ""),
            ("\u3164", " "),
        ),
        *(("\u094d", ""), ("\u093c", ""), ("\u093e", "\u093e"), ("\u0e38", "")),
        *(("\U000e0041", ""), ("\x00", ""), ("\ud800", ""), ("\u034f", "")),
        *(
            ("ⱥ", "a"),
            ("Ꞩ", "s"),
            ("ʇ", "t"),
            ("ↄ", "c"),
            ("ᴎ", "n"),
            ("ʉ", "u"),
            ("ə", "e"),
            ("þ", "p"),
            ("ⲥ", "c"),
            ("ᗪ", "d"),
        ),
        *(("⻉", "贝"), ("⻢", "马"), ("丨", " "), ("ǀ", " "), ("ʼ", " "), ("🇸", "s"), ("⒮", " s ")),
        *(
            ("ϲ", "c"),
            ("ᑎ", "n"),
            ("қ", "k"),
            ("ӽ", "x"),
            ("ʃ", "s"),
            ("著", "着"),
            ("覆", "复"),
            ("髙", "高"),
            ("妳", "你"),
        ),
        *(("ー", " "), ("ｰ", " "), ("ـ", " "), ("ㆍ", " "), ("ꓸ", " "), ("ヽ", " "), ("々", "々")),
        *(("\n", " "), ("。", " "), ("😀", " "), ("￥", " "), ("\ue000", " "), ("™", " "), ("…", "   ")),
    ],
)
def test_a_character_reads(written: str, reads: str) -> None:
    assert read(written) == reads


@pytest.mark.parametrize(
    ("char", "kind"),
    [
        *(("x", Kind.LETTER), ("7", Kind.LETTER), ("я", Kind.LETTER), ("ა", Kind.LETTER), ("ש", Kind.LETTER)),
        *(("法", Kind.IDEOGRAPH), ("𠮷", Kind.IDEOGRAPH), ("ก", Kind.IDEOGRAPH), ("각", Kind.IDEOGRAPH)),
        *(("か", Kind.GROWING), ("は", Kind.GROWING), ("\u1100", Kind.GROWING), ("가", Kind.GROWING)),
        *(("が", Kind.IDEOGRAPH), ("\u3099", Kind.JOINER), ("\u1161", Kind.JOINER), ("\u11a8", Kind.JOINER)),
        *((" ", Kind.NOISE), ("\n", Kind.NOISE), ("'", Kind.NOISE), ("’", Kind.NOISE), ("ʼ", Kind.NOISE)),
        *(
            ("!", Kind.JOINT),
            ("$", Kind.JOINT),
            ("🙂", Kind.JOINT),
            ("丶", Kind.JOINT),
            ("ˈ", Kind.JOINT),
            ("🇸", Kind.FLAG),
        ),
    ],
)
def test_a_character_is_of_its_kind(char: str, kind: Kind) -> None:
    assert [glyph.kind for glyph in FOLDING[char]] == [kind]


def test_figures_and_signs_stand_for_letters_where_that_is_asked_for() -> None:
    assert "".join(read(char, STAND_INS) for char in "0134578@$l＄") == "oieastbasis"
    assert [STAND_INS["!"][0].kind, STAND_INS["|"][0].kind] == [Kind.INNER, Kind.INNER]
    assert [STAND_INS["9"][0].char, STAND_INS["x"][0].char, STAND_INS["#"][0].kind] == ["9", "x", Kind.JOINT]


@given(st.characters())
def test_what_was_read_reads_as_itself(char: str) -> None:
    for folding in (FOLDING, STAND_INS):
        assert all(
            folding[glyph.char] == (glyph,)
            for glyph in folding[char]
            if glyph.kind not in {Kind.INNER, Kind.FLAG, Kind.JOINT}
        )


@given(st.characters().filter(lambda char: char not in "™℠"))
def test_a_character_reads_as_its_compatible_form_does(char: str) -> None:
    composed = unicodedata.normalize("NFKC", char)
    assert "".join(map(read, composed)) == read(char)


def test_figures_of_tones_are_nothing_where_that_is_asked_for() -> None:
    toneless = Folding(tones=False)
    assert "".join(read(char, toneless) for char in "fa3 ２gōng¹6") == "fa gong6"


def test_no_more_is_kept_than_a_language_has() -> None:
    folding = Folding()
    for code in range(0x20000, 0x20000 + 20_100):
        assert folding[chr(code)]
        assert len(folding) <= 20_000


def test_every_variant_is_read_as_a_character_that_stays_as_it_is() -> None:
    assert all(read(old) == new == read(new) for old, new in zip(TRADITIONAL, SIMPLIFIED, strict=True))


def test_every_look_alike_is_read_as_what_it_looks_like() -> None:
    assert all(read(strange) == read(plain) for strange, plain in LOOKALIKES.items())


def test_only_some_characters_make_one_together() -> None:
    assert joined("か", "\u3099") == "が"
    assert joined("가", "\u11a8") == "각"
    assert joined("あ", "\u3099") is None
    assert is_voicing("\u309a")
    assert not is_voicing("\u0301")
