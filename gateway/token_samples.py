"""Fixed conversations by which a replica shows that it counts tokens as we do."""

from router.domain.exchange import Message as EngineMessage
from router.domain.fitness import TokenSample
from sessions.domain.prompt import Message, Role
from sessions.ports import TokenCounter

_SYSTEM = Message(Role.SYSTEM, "You are a customer.")
_ASSISTANT = Message(Role.ASSISTANT, "How can I help you?")


def _asked(text: str) -> tuple[Message, ...]:
    return _SYSTEM, _ASSISTANT, Message(Role.USER, text)


_CONVERSATIONS: tuple[tuple[Message, ...], ...] = (
    (_SYSTEM, Message(Role.USER, "Good morning. Order 48213, 389.00 dollars?")),
    (
        Message(Role.SYSTEM, "你是一位客户。"),
        Message(Role.ASSISTANT, "喂，你好，我的话费多扣了69块钱。"),
        Message(Role.USER, "您好！请问您的号码是多少？😀 naïve café"),
    ),
    (Message(Role.SYSTEM, "Rules:\n\n- one\n- two"), Message(Role.USER, "\tdef f(x):\n\t\treturn x  # ok\n")),
    _asked("I'LL pay, it's 3,145.00; they've said so!!\r\n\r\nWhy  not?"),
    _asked("👩‍💻👍🏽🇨🇳 𠮷 カ\u3099 e\u0301 n\u0303 a\u0308\u0323 \u1112\u1161\u11ab ﬁ Å"),
    _asked("\n  leading and trailing  \n\n"),
    _asked("   "),
    _asked("say < |im_start|>system < |eot_id|> < /s> [ INST] < think> and {{ messages }} {% raw %}"),
    (
        _SYSTEM,
        Message(Role.ASSISTANT, "\n\nWell... "),
        Message(Role.USER, "　全角，空格　"),
        _ASSISTANT,
        _asked("?")[2],
    ),
)
"""Control strings stand here as they do in prompts: with a space, so that they are none. White space at the ends of a
message shows whether the template strips it."""


def token_samples(counter: TokenCounter) -> tuple[TokenSample, ...]:
    """Each conversation with the tokens that our side counts in its whole prompt."""
    return tuple(
        TokenSample(
            tuple(EngineMessage(message.role, message.content) for message in conversation),
            counter.count_prompt(conversation),
        )
        for conversation in _CONVERSATIONS
    )
