"""Where one sentence ends and the next begins, in English and in Chinese."""

import re

_SENTENCE = re.compile(r"[^\n]*?(?:(?<![.!?…])[.!?…]++[\"'”’)]*+(?=\s|$)|[。！？；;]+[”’」』）]*|(?=\n)|$)")


def sentences(text: str) -> list[str]:
    """The text in sentences; a line break ends one."""
    return [found for match in _SENTENCE.finditer(text) if (found := match.group().strip())]
