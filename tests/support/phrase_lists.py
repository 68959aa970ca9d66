"""Phrases to look for in tests, and books of them."""

from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import Action, Phrase, PhraseList, Spelling

BANNED = (
    "赌博网",
    "代开发票",
    "法輪功",
    "加微信",
    "加vx",
    "AV女优",
    "spam",
    "Buy Now",
    "get rich quick",
    "casino888",
    "don't tell",
    "café noir",
    "привет",
    "ばか",
    "바보",
)
"""Han, Latin, both in one, with figures, an apostrophe and an accent, Cyrillic, kana, Hangul."""

INNOCENT = (
    "",
    "您好，请问有什么可以帮您？",
    "I live in Scunthorpe and pass the class assessment.",
    "网站的发票请到柜台开，谢谢。",
    "Rich people get up quickly; now buy it 2 times, A. S. Smith.",
    "👩‍💻 e\u0301té\u200b ",
)
"""What may stand around them."""


def phrases(*texts: str, action: Action = Action.BLOCK, spelling: Spelling = Spelling.PLAIN) -> tuple[Phrase, ...]:
    return tuple(Phrase(id=text, text=text, category="test", action=action, spelling=spelling) for text in texts)


def book(
    *texts: str, action: Action = Action.BLOCK, spelling: Spelling = Spelling.PLAIN, allowed: tuple[str, ...] = ()
) -> PhraseBook:
    """Of one list, whose rules are called as their phrases are."""
    return PhraseBook([PhraseList("test", 1, phrases(*texts, action=action, spelling=spelling), allowed)])
