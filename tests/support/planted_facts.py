"""Facts that a trainee tells once, and talks of several kinds around them."""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from sessions.domain.turn import Turn
from tests.support.records_world import turn

FACTS = (
    "My daughter is called Mira.",
    "The order number is 48213-B.",
    "I am allergic to penicillin.",
    "我妈妈住在杭州。",
    "我们约好周四下午三点。",
    "We agreed on Thursday at 3 pm.",
    "My e-mail is mira.chen@example.com.",
    "我叫李雷，订单号是77120。",
)

_SUBJECTS = ("The warehouse", "A colleague", "The courier", "Our office", "The shop", "Your team")
_DOINGS = ("checked the shelf", "wrote a letter", "looked at the weather", "opened the door", "made tea")
_ENDS = ("again", "without hurry", "as usual", "in the end", "for a while", "and then stopped", "with some noise")
_CHINESE = ("今天天气还可以", "这件事情说来话长", "您慢慢讲没有关系", "我们先看看情况再说", "大家都觉得差不多")


def _templated(number: int) -> tuple[str, str]:
    said = f"This is turn {number} of our talk, please go on with item {number}. " * 3
    return said, f"Yes, I heard turn {number}, let us go on with item {number}. " * 3


def _numbered(number: int) -> tuple[str, str]:
    return f"turn {number}: please go on " * 6, f"answer {number}: going on " * 6


def _varied(number: int) -> tuple[str, str]:
    dice = random.Random(number)  # noqa: S311  a test must be repeatable

    def some() -> str:
        return " ".join(f"{dice.choice(_SUBJECTS)} {dice.choice(_DOINGS)} {dice.choice(_ENDS)}." for _ in range(4))

    return some(), some()


def _chinese(number: int) -> tuple[str, str]:
    dice = random.Random(number)  # noqa: S311  a test must be repeatable

    def some() -> str:
        return "".join(f"{dice.choice(_CHINESE)}，{dice.choice(_CHINESE)}。" for _ in range(4))

    return f"第{number}轮：{some()}", f"好的，第{number}轮。{some()}"


def _same(number: int) -> tuple[str, str]:
    del number
    return "Please go on, I am listening and I have time. " * 4, "Very well, I am here and we have the whole day. " * 4


FILLERS: Mapping[str, Callable[[int], tuple[str, str]]] = {
    "templated": _templated,
    "numbered": _numbered,
    "varied": _varied,
    "chinese": _chinese,
    "same": _same,
}


def a_talk(filler: str, facts: Mapping[int, str], *, turns: int) -> list[Turn]:
    """Turns of filler; the facts stand in the middle of the trainee's messages of these turns."""
    talk = []
    for number in range(1, turns + 1):
        said, answered = FILLERS[filler](number)
        half = len(said) // 2
        cut = next((at for at in range(half, len(said)) if said[at] in ".。"), len(said) - 1) + 1
        if number in facts:
            said = f"{said[:cut]} {facts[number]} {said[cut:]}".strip()
        talk.append(replace(turn(number), text=said, reply=answered))
    return talk


def rough_tokens(text: str) -> int:
    """More than any of the served tokenizers would count: every character of Chinese, every figure and mark."""
    return len(re.findall(r"[A-Za-z]{1,5}|[^\sA-Za-z]", text))
