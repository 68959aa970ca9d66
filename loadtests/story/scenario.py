"""The role-play of the story: a script that with its persona takes about 1,100 tokens."""

from collections.abc import Mapping

_CHAPTERS = 9
_PERSONA = (
    "You are Dana Whitfield, who buys office equipment for a company of two hundred people. You are on the phone with "
    "a sales agent in training. You are polite, well prepared and hard to impress: you want figures, dates and names, "
    "and you say so when an answer is vague."
)
_INSTRUCTIONS = (
    "Stay in the role of the customer all the time. Speak as people do on the phone. Never speak for the agent, never "
    "explain that this is an exercise, never give a score."
)
_SUBJECTS = (
    "the price of forty standing desks",
    "delivery to three floors without a lift",
    "the warranty on motors and frames",
    "taking back the old desks",
    "a trial of two desks for a month",
    "payment in two parts",
    "cables, trays and who fits them",
    "what happens when a desk arrives damaged",
    "a second order for another town",
)
_WORDS = ("well", "let", "me", "see", "what", "that", "would", "mean", "for", "us", "and", "for", "our", "people")


def scenario() -> Mapping[str, object]:
    """As `POST /v1/scenarios` takes it."""
    return {
        "title": "Forty desks, and a buyer who wants figures",
        "locale": "en-US",
        "persona": _PERSONA,
        "instructions": _INSTRUCTIONS,
        "opening": "Good morning. I have forty desks to buy and twenty minutes. Where do we begin?",
        "scenes": [{"name": "the call", "script": "\n".join(_chapter(number) for number in range(_CHAPTERS))}],
        "limits": {"max_turns": 200, "max_reply_tokens": 256},
    }


def reply(tokens: int) -> str:
    """What every simulated replica says: so many words, and so about as many tokens."""
    return " ".join(_WORDS[at % len(_WORDS)] for at in range(tokens)).capitalize() + "."


def _chapter(number: int) -> str:
    subject = _SUBJECTS[number]
    return (
        f"Part {number + 1}: {subject}. Bring it up yourself when the agent has answered the part before. First ask "
        f"what is usual. Then say that another supplier has offered more, and ask what the agent can do. If the agent "
        f"names a figure, write it down aloud and ask until when it holds. If the agent cannot say, ask who can, and "
        f"by when you will be called. Do not go on before you have a figure, a date or a name for {subject}."
    )
