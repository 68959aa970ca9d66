"""Takes the power out of control strings in untrusted text.

A tokenizer turns the literal `<|im_start|>` inside a message into the control token that opens a chat role, so a
trainee could forge one. A space after the first character makes it ordinary text that still reads the same.
"""

from collections.abc import Sequence


def neutralised(text: str, special_tokens: Sequence[str]) -> str:
    """The text without any of the special tokens; text that holds none comes back unchanged."""
    for token in special_tokens:
        while token in text:  # a token may overlap itself, and then one pass leaves some
            text = text.replace(token, f"{token[0]} {token[1:]}")
    return text
