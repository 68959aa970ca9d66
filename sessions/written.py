"""A prompt as it goes to the engine, with its size."""

from dataclasses import dataclass

from sessions.domain.citation import NO_BACKGROUND, Background
from sessions.domain.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Written:
    """A prompt that fits, with its exact size and what is left for the reply."""

    prompt: Prompt
    prompt_tokens: int
    max_tokens: int
    background: Background = NO_BACKGROUND
    """What was found for the message and does stand in the prompt."""
