"""Texts of a wanted length, the same again for the same name, in plain words that no rule of moderation minds."""

from loadtests.domain.dice import Dice

# fmt: off
WORDS = (
    "parcel", "order", "window", "garden", "letter", "bridge", "market", "winter", "silver", "doctor", "paper",
    "river", "stone", "table", "candle", "ticket", "number", "morning", "corner", "basket", "copper", "ladder",
    "mirror", "needle", "orange", "pencil", "pocket", "ribbon", "saddle", "signal", "spring", "square", "summer",
    "tailor", "timber", "travel", "tunnel", "velvet", "village", "wagon", "walnut", "water", "weather", "wheel",
    "willow", "wonder", "yellow",
)
# fmt: on


def text_of(name: str, letters: int) -> str:
    """So many letters, spaces counted."""
    dice = Dice(0, name)
    words: list[str] = []
    length = 0
    while length <= letters:
        word = dice.one_of(WORDS)
        words.append(word)
        length += len(word) + 1
    return " ".join(words)[:letters]


def text_of_blocks(name: str, blocks: tuple[int, ...], *, block_letters: int, letters: int) -> str:
    """Equal blocks of one name are equal text; the last is as long as what is left, and all together have `letters`."""
    whole = "".join(text_of(f"{name} {block}", max(1, block_letters - 1)) + "\n" for block in blocks[:-1])
    last = text_of(f"{name} {blocks[-1]}", max(1, letters - len(whole)))
    return whole + last
