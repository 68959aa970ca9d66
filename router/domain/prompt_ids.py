"""The tokens of the prompt, which an engine that is asked for tokens tells in the first event of its reply."""

import re

_PROMPT_IDS = re.compile(rb'"prompt_token_ids":\s*(?=\[)')


def cut_prompt_ids(block: bytes) -> tuple[bytes, bytes]:
    """The list as it is written, empty if there is none, and the event without it."""
    found = _PROMPT_IDS.search(block)
    if found is None:
        return b"", block
    begin, end = found.end(), block.find(b"]", found.end()) + 1
    if not end:
        return b"", block  # it is no JSON then, as will be found
    return block[begin:end], block[:begin] + b"null" + block[end:]
