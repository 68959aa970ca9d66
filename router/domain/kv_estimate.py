"""How much KV cache one call may come to hold, guessed from its bytes alone; parsing them costs more than the guess
is worth.
"""

_BYTES_PER_TOKEN = 4
_UNTOLD_REPLY_TOKENS = 512
# Inside a JSON string a quote stands behind a backslash, so nobody's words can look like these names.
_LIMITS = (b'"max_tokens"', b'"max_completion_tokens"')
_LONGEST_NUMBER = 12


def kv_estimate(body: bytes, *, most: int) -> int:
    """Tokens of prompt and reply together; `most` of a whole session caps them unless it is 1, which is untold."""
    tokens = len(body) // _BYTES_PER_TOKEN + _reply_tokens(body)
    return tokens if most <= 1 else min(tokens, most)


def _reply_tokens(body: bytes) -> int:
    for name in _LIMITS:
        # From behind, where limits mostly stand, and several times faster over a long prompt.
        found = body.rfind(name)
        if found >= 0:
            start = found + len(name)
            number = body[start : start + _LONGEST_NUMBER].lstrip(b" :")
            digits = number.split(b",", 1)[0].rstrip(b"} \r\n\t")
            if digits.isdigit():
                return int(digits)
    return _UNTOLD_REPLY_TOKENS
