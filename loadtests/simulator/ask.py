"""From a request body to what the engine gets and what the answer will say."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadtests.domain.dice import Dice
from loadtests.simulator.body import (
    ChatBody,
    CompletionBody,
    ResponseFormat,
    Sampling,
    StructuredOutputs,
    check_chat,
    check_model,
    conversation_of,
)
from loadtests.simulator.body_rules import check_bias, check_sampling
from loadtests.simulator.domain.continuing import Opened, opened_by, reopened, tokens_after
from loadtests.simulator.domain.json_instance import Schema, instance_text
from loadtests.simulator.domain.packed_tokens import Token, token_of
from loadtests.simulator.domain.regex_sample import sample
from loadtests.simulator.domain.replies import Reply, Rule, Said, reply_to
from loadtests.simulator.domain.speech import Ending, Speech, ended
from loadtests.simulator.domain.wire import Kind
from loadtests.simulator.errors import bad_request, bad_value
from loadtests.simulator.vocabulary import Vocabulary, chat_text

_RANGED = (
    *("temperature", "top_p", "top_k", "min_p"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty", "min_tokens"),
)
_ANY_OBJECT: Schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What answers: its name, its words, its window."""

    name: str
    vocabulary: Vocabulary
    window_tokens: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the answers that were asked for."""

    index: int
    prompt: tuple[int, ...]
    speech: Speech


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A request that was understood and may be answered."""

    kind: Kind
    body: Sampling
    choices: tuple[Choice, ...]
    max_tokens: int
    ending: Ending
    last: str
    role: str = "assistant"
    echo: str = ""
    """Text that goes before the answer."""
    top_logprobs: int | None = None
    shows_prompt_logprobs: bool = False

    @property
    def streams(self) -> bool:
        return bool(self.body.stream)

    @property
    def prompt(self) -> tuple[int, ...]:
        return self.choices[0].prompt

    @property
    def includes_usage(self) -> bool:
        return bool(self.body.stream_options and self.body.stream_options.include_usage)

    @property
    def counts_always(self) -> bool:
        return bool(self.body.stream_options and self.body.stream_options.continuous_usage_stats)


def ask_chat(body: ChatBody, model: Model, rules: Sequence[Rule]) -> Ask:
    check_model(body.model, model.name)
    check_chat(body)
    conversation = conversation_of(body.messages, model=model.name)
    text = chat_text(
        model.vocabulary,
        conversation,
        add_generation_prompt=body.add_generation_prompt,
        continue_final_message=body.continue_final_message,
    )
    named = body.max_completion_tokens if body.max_completion_tokens is not None else body.max_tokens
    prompt = _fitting(model.vocabulary.encode(text), body, model)
    limit = _limit(named, len(prompt), body, model)
    last = conversation[-1]
    speaker = _Speaker(model=model, body=body, rules=rules, limit=limit)
    is_logged = body.logprobs is True
    return Ask(
        kind=Kind.CHAT,
        body=body,
        choices=tuple(
            speaker.choice(index, prompt, reopened(conversation, continues=body.continue_final_message))
            for index in range(body.n)
        ),
        max_tokens=limit,
        ending=speaker.ending,
        last=last.content,
        role="assistant" if body.add_generation_prompt else last.role,
        echo=last.content if body.echo and body.continue_final_message else "",
        top_logprobs=(body.top_logprobs or 0) if is_logged else None,
        shows_prompt_logprobs=body.echo or body.prompt_logprobs is not None,
    )


def ask_completion(body: CompletionBody, model: Model, rules: Sequence[Rule]) -> Ask:
    check_model(body.model, model.name)
    if body.suffix is not None:
        message = "suffix is only supported for models with FIM completion rendering"
        raise bad_request(message, param="suffix")
    prompts = [_fitting(_known(prompt, model), body, model) for prompt in _prompts(body, model.vocabulary)]
    longest = max(map(len, prompts))
    limit = _limit(body.max_tokens, longest, body, model)
    speaker = _Speaker(model=model, body=body, rules=rules, limit=limit)
    choices: list[Choice] = []
    for prompt in prompts:
        text = model.vocabulary.decode(prompt)
        opened = opened_by(text) or Opened((Said("user", text),))
        first = len(choices)
        choices += [speaker.choice(first + place, prompt, opened) for place in range(body.n)]
    return Ask(
        kind=Kind.COMPLETION,
        body=body,
        choices=tuple(choices),
        max_tokens=limit,
        ending=speaker.ending,
        last=model.vocabulary.decode(prompts[-1]),
        echo=model.vocabulary.decode(prompts[0]) if body.echo else "",
        top_logprobs=body.logprobs,
    )


def _prompts(body: CompletionBody, vocabulary: Vocabulary) -> list[list[int]]:
    given = body.prompt
    if given == []:
        raise bad_request("You must pass at least one prompt")
    if not given:
        raise bad_value("Either prompt or prompt_embeds must be provided and non-empty.", param="prompt")
    if isinstance(given, str):
        return [vocabulary.encode(given)]
    if alone := [number for number in given if isinstance(number, int)]:
        return [alone]
    return [vocabulary.encode(each) if isinstance(each, str) else _numbers(each) for each in given]


def _known(prompt: list[int], model: Model) -> list[int]:
    for token in prompt:
        if not model.vocabulary.knows(token):
            raise bad_request(f"Token id {token} is out of vocabulary")
    return prompt


def _numbers(ids: object) -> list[int]:
    return [number for number in ids if isinstance(number, int)] if isinstance(ids, list) else []


def _fitting(prompt: Sequence[int], body: Sampling, model: Model) -> tuple[int, ...]:
    """The prompt as it may be, cut on the left where the request says so."""
    if (kept := body.truncate_prompt_tokens) is not None and kept > model.window_tokens:
        message = (
            f"truncate_prompt_tokens={kept} cannot be greater than max_model_len = {model.window_tokens}. "
            "Please request a smaller truncation size."
        )
        raise bad_value(message, param="truncate_prompt_tokens", value=kept)
    if kept is not None and kept >= 0:
        prompt = prompt[len(prompt) - min(kept, len(prompt)) :]
    window = model.window_tokens
    if len(prompt) > window:
        message = (
            f"This model's maximum context length is {window} tokens. However, your prompt contains at least "
            f"{window + 1} input tokens, which exceeds this limit even without any output tokens. "
            "Please reduce the length of the input prompt."
        )
        raise bad_value(message, param="input_tokens", value=window + 1)
    return tuple(prompt)


def _limit(named: int | None, prompt_tokens: int, body: Sampling, model: Model) -> int:
    """What the window leaves is cut silently; only what could never fit is refused."""
    window = model.window_tokens
    if named is not None and named > window:
        message = (
            f"max_tokens={named} cannot be greater than max_model_len={window}. Please request fewer output tokens."
        )
        raise bad_value(message, param="max_tokens", value=named)
    room = window - prompt_tokens
    limit = room if named is None else min(named, room)
    values = {name: getattr(body, name) for name in _RANGED}
    check_sampling(values, n=body.n, max_tokens=limit, stops=body.stops)
    check_bias(body.logit_bias)
    return limit


class _Speaker:
    """Decides beforehand what the model will say."""

    def __init__(self, *, model: Model, body: Sampling, rules: Sequence[Rule], limit: int) -> None:
        self._model = model
        self._body = body
        self._rules = rules
        self._limit = limit
        self.ending = Ending(
            stop=body.stops,
            stop_token_ids=frozenset(body.stop_token_ids or ()),
            show_stop=body.include_stop_str_in_output,
            least_tokens=body.min_tokens,
        )

    def choice(self, index: int, prompt: tuple[int, ...], opened: Opened) -> Choice:
        # Greedy decoding says the same whatever its seed; above zero the seed of the request counts.
        is_greedy = self._body.temperature == 0
        seed = self._model.seed if is_greedy or self._body.seed is None else self._model.seed + self._body.seed
        tokens = self._said(opened, seed=seed + (0 if is_greedy else index))
        return Choice(index=index, prompt=prompt, speech=ended(tokens, self.ending))

    def _said(self, opened: Opened, *, seed: int) -> list[Token]:
        conversation, begun = opened.conversation, opened.begun
        vocabulary = self._model.vocabulary
        if (constrained := self._constrained(conversation, seed=seed)) is not None:
            # A grammar begins anew with each request, whatever was said before.
            return self._tokens(Reply(constrained))
        whole = self._tokens(reply_to(conversation, self._rules, seed=seed), said=len(vocabulary.encode(begun)))
        rest = tokens_after(whole, begun)
        if rest is None:
            # These are not its own words: it answers to all of them.
            everything = [*conversation, Said("assistant", begun)]
            return self._tokens(reply_to(everything, self._rules, seed=seed))
        tokens, middle = rest
        return [*vocabulary.tokens(middle), *tokens] if middle else tokens

    def _constrained(self, conversation: Sequence[Said], *, seed: int) -> str | None:
        dice = Dice(seed, "\n".join(said.content for said in conversation))
        try:
            return _constrained(self._body, dice)
        except (ValueError, ArithmeticError, RecursionError) as error:
            # What is asked for may be nonsense in any place, which the engine's compiler of grammars refuses as well.
            raise bad_request(str(error)) from error

    def _tokens(self, reply: Reply, *, said: int = 0) -> list[Token]:
        """All of a reply of which so many tokens were said before."""
        vocabulary, end = self._model.vocabulary, Token(self._model.vocabulary.end, "")
        if reply.pieces:
            tokens = [Token(token_of(piece), piece) for piece in reply.pieces]
        else:
            tokens = vocabulary.tokens(reply.text)
        if not self._body.ignore_eos:
            least = self._body.min_tokens + said if self._body.min_tokens else 0
            if len(tokens) >= least:
                return [*tokens, end]
            return [*_again(tokens, reply, vocabulary, least), end]
        return _again(tokens, reply, vocabulary, self._limit + said)


def _again(tokens: list[Token], reply: Reply, vocabulary: Vocabulary, least: int) -> list[Token]:
    """Said again and again until there are so many tokens."""
    more = vocabulary.tokens(f"\n{reply.text or 'And so on.'}")
    while len(tokens) < least:
        tokens = [*tokens, *more]
    return tokens[:least] if least else tokens


def _constrained(body: Sampling, dice: Dice) -> str | None:
    """What a request for structured output forces the model to write, if it is one."""
    match body.structured_outputs:
        case StructuredOutputs(choice=[_, *_] as choices):
            return dice.one_of(choices)
        case StructuredOutputs(regex=str() as pattern):
            return sample(pattern, dice)
        case StructuredOutputs(json_=(dict() | str()) as schema):
            return instance_text(_schema(schema), dice)
        case _:
            return _formatted(body.response_format, dice)


def _formatted(wanted: ResponseFormat | None, dice: Dice) -> str | None:
    if wanted is None or wanted.type in ("text", "structural_tag"):
        return None
    if wanted.type == "json_object":
        return instance_text(_ANY_OBJECT, dice)
    if wanted.json_schema is None or wanted.json_schema.content is None:
        raise bad_request("response_format of type json_schema needs a json_schema with a schema.")
    return instance_text(wanted.json_schema.content, dice)


def _schema(given: Mapping[str, Any] | str) -> dict[str, Any]:
    if not isinstance(given, str):
        return dict(given)
    try:
        content = json.loads(given)
    except ValueError as error:
        raise bad_request(f"Invalid JSON schema: {error}") from error
    return content if isinstance(content, dict) else {}
