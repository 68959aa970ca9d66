"""What of an untrusted text may stand in a note.

A note is read back as a record of what was said, so it holds no control strings, no marks of ours, no chat roles, and
no sentence that judges the exercise or gives orders.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from sessions.domain.folded_text import visible
from sessions.domain.judging_words import is_suspicious, names_judging
from sessions.domain.prompt import PromptRules
from sessions.domain.sentences import sentences

# Nothing of a row of terminators is tried twice: a message of full stops would hold up everybody for seconds.
_ROLE = re.compile(
    r"^[\s>*#`_\-•]*(?:system|assistant|user|human|ai|developer|tool|tutor|系统|助手|用户|工具)[\s*`_]*[:：]\s*",
    re.IGNORECASE,
)
_MARKDOWN = re.compile(r"^[\s>#*•\-]+(?=\S)|[*`]{1,3}|_{2,}|~{2,}")
_FRAME_WORD = re.compile(r"<{2,}|>{2,}|\[/?(?:INST|SYS)\]", re.IGNORECASE)
_OUR_MARK = re.compile(r"[\[［【]\s*(?:t\s*\d+(?:\s+tutor)?|\d+\s*[-–]\s*\d+)\s*[\]］】]", re.IGNORECASE)
_LEAST_LETTERS = 2
_WORD = re.compile(r"[^\W一-鿿]+|[一-鿿]{1,2}")
_FRAGMENT_WORDS = 4
_BLANKS = re.compile(r"[^\S\n]+")


def unmarked(text: str) -> str:
    """The text without what looks like the marks of a note, which say who said something and when."""
    while (shorter := _OUR_MARK.sub(" ", visible(text.replace("\t", " ")))) != text:
        text = shorter
    return text


def checked_text(text: str, rules: PromptRules) -> str:
    """The lines of the text without whatever a note may not hold; empty when nothing is left."""
    lines = (_line(line) for line in _BLANKS.sub(" ", visible(text.replace("\t", " "))).split("\n"))
    harmless = [sentences(rules.harmless(line)) for line in lines]
    kept = _innocent([sentence for line in harmless for sentence in line])
    return "\n".join(filter(None, (" ".join(one for one in line if next(kept)) for line in harmless)))


def _innocent(found: list[str]) -> Iterator[bool]:
    """For each sentence, whether it may stay: by itself, and together with each of its neighbours."""
    bad = {place for place, sentence in enumerate(found) if is_suspicious(sentence)}
    for place, (one, other) in enumerate(pairwise(found)):
        if not {place, place + 1} & bad and _says_together(one, other):
            bad |= {place, place + 1}
    return (place not in bad and _says_something(sentence) for place, sentence in enumerate(found))


def _says_together(one: str, other: str) -> bool:
    """Whether they judge or give orders as one sentence: where it was cut in two, at least one is but a fragment."""
    both = f"{one} {other}"
    return names_judging(both) or ((_is_fragment(one) or _is_fragment(other)) and is_suspicious(both))


def _is_fragment(sentence: str) -> bool:
    return len(_WORD.findall(_OUR_MARK.sub("", sentence))) <= _FRAGMENT_WORDS


def _says_something(sentence: str) -> bool:
    return sum(one.isalnum() for one in sentence) >= _LEAST_LETTERS


def _line(line: str) -> str:
    """Without what makes it look like more than a line of text: chat roles, headings, emphasis, frames."""
    while (shorter := _MARKDOWN.sub("", _FRAME_WORD.sub("", _ROLE.sub("", line)))) != line:
        line = shorter
    return line.strip()
