"""Letters that tell by their names which plain letter they are."""

import pytest

from gateway.domain.moderation.lookalikes import LOOKALIKES, latin_letter


@pytest.mark.parametrize(
    ("char", "letter"),
    [
        *(("ⱥ", "a"), ("Ƀ", "b"), ("ɖ", "d"), ("ʇ", "t"), ("ↄ", "c"), ("ᴚ", "r"), ("ſ", "s"), ("Ʉ", "u"), ("ᶍ", "x")),
        *(("Ɖ", "d"), ("x", "x"), ("ʁ", "r"), ("ᴖ", "o")),
        *(("ß", None), ("ŋ", None), ("ʤ", None), ("я", None), ("法", None), ("1", None), ("\ue000", None)),
    ],
)
def test_a_latin_letter_is_known_by_its_name(char: str, letter: str | None) -> None:
    assert latin_letter(char) == letter


def test_look_alikes_are_other_characters_than_what_they_look_like() -> None:
    assert all(
        len(strange) == 1 and strange != plain and not strange.isascii() for strange, plain in LOOKALIKES.items()
    )
