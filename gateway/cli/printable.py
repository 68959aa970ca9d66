"""What may be written to a terminal of text that came from elsewhere."""

import unicodedata

LAYOUT = "\n\t"


def printable(text: str) -> str:
    """Without control characters: an escape sequence in a reply or an error must not steer the reader's terminal."""
    return "".join(character for character in text if character in LAYOUT or unicodedata.category(character) != "Cc")
