"""Log probabilities in vLLM's shapes; the numbers are made up and only their order means something."""

from collections.abc import Sequence

from loadtests.domain.dice import Dice
from loadtests.simulator.domain.packed_tokens import Token
from loadtests.simulator.domain.wire import Document
from loadtests.simulator.vocabulary import Vocabulary

_OTHERS = (" the", " and", " of", " a", " to", " is", " it", " in", " that", " for")


def chat_logprobs(tokens: Sequence[Token], vocabulary: Vocabulary, *, top: int) -> Document:
    return {"content": [_one(token, vocabulary, top) for token in tokens]}


def completion_logprobs(tokens: Sequence[Token], vocabulary: Vocabulary, *, top: int, offset: int) -> Document:
    names = [vocabulary.decode([token.id]) for token in tokens]
    chances = [_chance(token.id) for token in tokens]
    offsets = [offset + sum(map(len, names[:place])) for place in range(len(names))]
    tops = [
        dict([(name, chance), *_others(name, chance, top - 1)]) for name, chance in zip(names, chances, strict=True)
    ]
    return {"text_offset": offsets, "token_logprobs": chances, "tokens": names, "top_logprobs": tops}


def prompt_logprobs(prompt: Sequence[int], vocabulary: Vocabulary) -> list[Document | None]:
    """Nothing is known of the first token."""
    return [
        None,
        *(
            {str(token): {"logprob": _chance(token), "rank": 1, "decoded_token": vocabulary.decode([token])}}
            for token in prompt[1:]
        ),
    ]


def _one(token: Token, vocabulary: Vocabulary, top: int) -> Document:
    name, chance = vocabulary.decode([token.id]), _chance(token.id)
    best = [(name, chance), *_others(name, chance, top - 1)] if top else []
    return {**_named(name, chance), "top_logprobs": [_named(*each) for each in best]}


def _named(name: str, chance: float) -> Document:
    return {"token": name, "logprob": chance, "bytes": list(name.encode("utf-8", "replace"))}


def _others(name: str, chance: float, count: int) -> list[tuple[str, float]]:
    others = [other for other in _OTHERS if other != name][: max(count, 0)]
    return [(other, chance - 1.0 - place / 8) for place, other in enumerate(others)]


def _chance(token: int) -> float:
    return -Dice(0, str(token)).between(1, 2000) / 1000
