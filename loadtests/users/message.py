"""What a trainee says at one place of the timetable; made before it is due."""

from dataclasses import dataclass

from loadtests.domain.part import Act, Ask
from loadtests.trainee_lines import line
from loadtests.users.ruler import Sized
from loadtests.users.stage import Stage

_GUESSED = "by_letters"


@dataclass(frozen=True, slots=True)
class Message:
    text: str
    note: str = ""


def message(stage: Stage, trainee: int, turn: int, ask: Ask) -> Message:
    if ask.message_tokens is None:
        return Message(line(trainee, turn, run=stage.number))
    sized = _sized(stage, f"{stage.name} {trainee} {ask.at_s}", ask, ask.message_tokens)
    return Message(sized.text, "" if sized.is_counted else _GUESSED)


def _sized(stage: Stage, name: str, ask: Ask, tokens: int) -> Sized:
    if ask.blocks:
        return stage.ruler.text_of_blocks(stage.name, ask.blocks, block_tokens=ask.block_tokens, tokens=tokens)
    is_whole_prompt = ask.act is Act.TOO_LONG or stage.is_by_share
    return stage.ruler.text(name, tokens, exactly=is_whole_prompt)
