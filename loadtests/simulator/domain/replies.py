"""What the simulated model answers: a function of seed and conversation, or what a script says."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadtests.domain.dice import Dice

_ENGLISH = (
    "Let me think about that for a moment.",
    "I understand what you mean, and I would like to hear more.",
    "Our budget for this year is almost spent.",
    "What would happen if we waited until spring?",
    "That sounds reasonable to me.",
    "Could you explain the second point again, please?",
    "I have spoken with my colleagues, and they are not convinced yet.",
    "The price is higher than what we paid before.",
    "When could you deliver the first part?",
    "Please send me the figures in writing.",
    "I am afraid that this is not what we agreed on.",
    "Thank you, that helps a lot.",
)
_CHINESE = (
    "让我想一想。",
    "我明白您的意思，请再说详细一点。",
    "我们今年的预算差不多用完了。",
    "如果等到春天再决定，会怎么样？",
    "这听起来很合理。",
    "第二点能不能再解释一下？",
    "我和同事们谈过，他们还没有被说服。",
    "这个价格比我们以前付的高。",
    "第一批什么时候可以交货？",
    "请把数字写下来发给我。",
    "恐怕这和我们说好的不一样。",
    "谢谢，这对我很有帮助。",
)


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply as text, or in pieces that come one token each, however the vocabulary would cut them."""

    text: str
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """Replies for the conversations it fits: those whose system prompt and last message hold the given words.

    The first reply answers the first user turn, and so on; the last one answers all further turns.
    """

    replies: tuple[Reply, ...]
    system: str = ""
    last: str = ""

    def fits(self, conversation: Sequence[Said]) -> bool:
        system = "\n".join(said.content for said in conversation if said.role == "system")
        last = conversation[-1].content if conversation else ""
        return self.system in system and self.last in last


def reply_to(conversation: Sequence[Said], rules: Sequence[Rule], *, seed: int) -> Reply:
    """The first rule that fits answers; where none does, the model makes something up."""
    for rule in rules:
        if rule.fits(conversation):
            turn = sum(said.role == "user" for said in conversation)
            return rule.replies[min(max(turn, 1), len(rule.replies)) - 1]
    return Reply(" ".join(_sentences(conversation, seed=seed)).replace("。 ", "。").replace("？ ", "？"))


def split_everywhere(phrases: Sequence[str]) -> Reply:
    """Each phrase once for every place in it, cut there between two tokens, and once more letter by letter."""
    pieces: list[str] = []
    for phrase in phrases:
        for place in range(1, len(phrase)):
            pieces += [phrase[:place], phrase[place:], "\n"]
        pieces += [*phrase, "\n"]
    return Reply("".join(pieces), tuple(pieces))


def repeated(text: str, times: int) -> Reply:
    return Reply(text * times)


def long_reply(seed: int, *, characters: int) -> Reply:
    """At least so many characters."""
    sentences: list[str] = []
    dice, length = Dice(seed, "long"), 0
    while length < characters:
        sentences.append(dice.one_of(_ENGLISH))
        length += len(sentences[-1]) + 1
    return Reply(" ".join(sentences))


def _sentences(conversation: Sequence[Said], *, seed: int) -> list[str]:
    dice = Dice(seed, "\n".join(f"{said.role}: {said.content}" for said in conversation))
    language = _language(conversation)
    return [dice.one_of(language) for _ in range(dice.between(1, 4))]


def _language(conversation: Sequence[Said]) -> tuple[str, ...]:
    last = conversation[-1].content if conversation else ""
    return _CHINESE if any("一" <= character <= "鿿" for character in last) else _ENGLISH
