"""What simulated replicas are told to say when their replies are to be of some length."""

_SENTENCES = (
    "I hear what you say, and I would like to believe it.",
    "When I called last week, somebody promised me the very same thing.",
    "The parcel was meant for my daughter's birthday, which is over now.",
    "Nobody has told me where it is, or why it went back to the depot.",
    "I have kept every mail that you people sent me, and none of them answers that.",
    "Tell me plainly what you can do today, and what you cannot.",
    "If it takes another week, I shall buy it elsewhere and want my money back.",
    "You are the third person to whom I explain all of this.",
    "That would help, but only if it is written down somewhere.",
    "I am not angry with you, I am angry with how this was handled.",
    "Let us go through it once more, so that nothing is left open.",
)
_WORDS_PER_TOKEN = 0.8
_TURNS = 64


def script_of_replies(tokens: int) -> dict[str, object]:
    """A script of the simulator: another reply each turn, all of about so many tokens."""
    return {"replies": [{"replies": [_reply(turn, tokens) for turn in range(_TURNS)]}]}


def _reply(turn: int, tokens: int) -> str:
    words: list[str] = []
    number = turn
    while len(words) < tokens * _WORDS_PER_TOKEN:
        words += _SENTENCES[number % len(_SENTENCES)].split()
        number += 1
    return " ".join(words[: max(1, round(tokens * _WORDS_PER_TOKEN))])
