"""Text that is markup already, told apart from words that must still be escaped."""

import re
from collections.abc import Iterable
from html import escape
from typing import NewType

Markup = NewType("Markup", str)

_NO_LETTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What neither HTML nor SVG may hold."""


def words(text: object) -> Markup:
    """Whatever it says, it stays words."""
    return Markup(escape(_NO_LETTERS.sub("\N{REPLACEMENT CHARACTER}", str(text))))


def tag(name: str, inner: Markup | None = None, /, **attributes: object) -> Markup:
    """`class_` and `aria_label` become `class` and `aria-label`; what is None is left out."""
    told = "".join(
        f' {each.rstrip("_").replace("_", "-")}="{words(value)}"'
        for each, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{told}/>" if inner is None else f"<{name}{told}>{inner}</{name}>")


def joined(parts: Iterable[Markup], between: str = "") -> Markup:
    return Markup(between.join(parts))
