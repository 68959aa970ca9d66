"""Fixed conversations by which a replica shows that it counts tokens as we do."""

from router.domain.exchange import Message as EngineMessage
from router.domain.fitness import TokenSample
from sessions.domain.prompt import Message, Role
from sessions.ports import TokenCounter

_CONVERSATIONS: tuple[tuple[Message, ...], ...] = (
    (Message(Role.SYSTEM, "You are a customer."), Message(Role.USER, "Good morning. Order 48213, 389.00 dollars?")),
    (
        Message(Role.SYSTEM, "你是一位客户。"),
        Message(Role.ASSISTANT, "喂，你好，我的话费多扣了69块钱。"),
        Message(Role.USER, "您好！请问您的号码是多少？😀 naïve café"),
    ),
    (Message(Role.SYSTEM, "Rules:\n\n- one\n- two"), Message(Role.USER, "\tdef f(x):\n\t\treturn x  # ok\n")),
)


def token_samples(counter: TokenCounter) -> tuple[TokenSample, ...]:
    """Each conversation with the tokens that our side counts in its whole prompt."""
    return tuple(
        TokenSample(
            tuple(EngineMessage(message.role, message.content) for message in conversation),
            counter.count_prompt(conversation),
        )
        for conversation in _CONVERSATIONS
    )
