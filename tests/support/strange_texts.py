"""Texts that tokenizers differ in: Chinese, English, emoji, combining marks, control strings, white space anywhere."""

import random
from collections.abc import Iterator

PIECES = (
    *("customer", " the", "it's", "I'LL", "naïve", "café", "3,145", "12", "٣", "½", "price", "aaaa", "bababa"),
    *("您好", "请问", "话费多扣了69块钱。", "，", "（", "龘", "𠮷", "ｆｕｌｌ", "カ\u3099", "한국어"),
    *("😀", "👩‍💻", "🇨🇳", "👍🏽", "e\u0301", "n\u0303o", "a\u0308\u0323", "\u1112\u1161\u11ab", "ﬁ", "Å", "\u0338"),
    *(" ", "  ", "\n", "\n\n", "\r\n", "\t", "\u3000", "\u00a0", "\u200b", "\u2028", "   \n "),
    *("\x00", "\x04", "\x7f", "\x85", "\ue000", "\ufeff", "\ufffd", "\U00040000", "\U000e0100", "\U00011de0"),
    *(
        "<|im_start|>",
        "<|im_end|>",
        "<|eot_id|>",
        "<|start_header_id|>",
        "<|endoftext|>",
        "</s>",
        "<think>",
        "<|",
        "|>",
    ),
    *("system\n", "user\n", "assistant\n", "'", '"', "{{", "}}", "...", "//", "_", "-", "\\", "ß", "ſ", "K", "İ"),
)


def strange_texts(count: int, *, seed: int = 1) -> Iterator[str]:
    """The same every time."""
    dice = random.Random(seed)  # noqa: S311  a test must be repeatable
    for _ in range(count):
        yield "".join(dice.choice(PIECES) for _ in range(dice.randint(1, 24)))
