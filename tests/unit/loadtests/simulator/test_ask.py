"""What a request will be answered with, decided before the engine has it."""

import json

import pytest

from loadtests.simulator.ask import Ask, Model, ask_chat, ask_completion
from loadtests.simulator.body import ChatBody, CompletionBody, read
from loadtests.simulator.domain.replies import Reply, Rule
from loadtests.simulator.errors import Refused
from loadtests.simulator.vocabulary import PackedVocabulary

MODEL = Model(name="m", vocabulary=PackedVocabulary(), window_tokens=100, seed=0)
RULES = (Rule((Reply("one two three"),)),)
END = PackedVocabulary.end


def chat(**fields: object) -> ChatBody:
    body = {"messages": [{"role": "user", "content": "Hello"}], **fields}
    return read(ChatBody, json.dumps(body).encode(), content_type="application/json")


def completion(**fields: object) -> CompletionBody:
    return read(CompletionBody, json.dumps({"prompt": "Hello", **fields}).encode(), content_type="application/json")


def text(ids: tuple[int, ...]) -> str:
    return MODEL.vocabulary.decode(ids)


def test_a_reply_ends_with_the_end_token() -> None:
    (choice,) = ask_chat(chat(), MODEL, RULES).choices
    assert text(choice.speech.ids) == "one two three<|im_end|>"


def test_an_ignored_end_goes_on_to_the_limit() -> None:
    ask = ask_chat(chat(ignore_eos=True, max_tokens=12), MODEL, RULES)
    assert len(ask.choices[0].speech.tokens) == 12
    assert END not in ask.choices[0].speech.ids


def test_a_reply_has_its_least_tokens_before_it_ends() -> None:
    (choice,) = ask_chat(chat(min_tokens=9, max_tokens=20), MODEL, RULES).choices
    assert len(choice.speech.tokens) == 10
    assert choice.speech.ids[-1] == END


def test_without_a_limit_a_reply_may_fill_the_window() -> None:
    ask = ask_chat(chat(), MODEL, RULES)
    assert ask.max_tokens == 100 - len(ask.prompt)


def test_a_limit_that_does_not_fit_is_cut_silently() -> None:
    assert ask_chat(chat(max_tokens=100), MODEL, RULES).max_tokens < 100


def test_a_prompt_is_cut_on_the_left() -> None:
    whole = ask_chat(chat(), MODEL, RULES).prompt
    assert ask_chat(chat(truncate_prompt_tokens=3), MODEL, RULES).prompt == whole[-3:]
    assert ask_chat(chat(truncate_prompt_tokens=90), MODEL, RULES).prompt == whole


def test_the_seed_of_a_request_counts_above_zero_only() -> None:
    def said(**fields: object) -> str:
        return text(ask_chat(chat(**fields), MODEL, ()).choices[0].speech.ids)

    assert len({said(temperature=0, seed=seed) for seed in range(5)}) == 1
    assert len({said(temperature=1, seed=seed) for seed in range(5)}) > 1


def test_several_choices_differ() -> None:
    ask = ask_chat(chat(n=5, temperature=1), MODEL, ())
    assert [choice.index for choice in ask.choices] == [0, 1, 2, 3, 4]
    assert len({choice.speech.ids for choice in ask.choices}) > 1


def test_choices_of_several_prompts_are_numbered_through() -> None:
    ask = ask_completion(completion(prompt=["a", "b"], n=2, temperature=1), MODEL, ())
    assert [(choice.index, text(choice.prompt)) for choice in ask.choices] == [(0, "a"), (1, "a"), (2, "b"), (3, "b")]


@pytest.mark.parametrize("prompt", [[1, 2], [[1, 2]]])
def test_a_prompt_may_be_ids(prompt: object) -> None:
    assert ask_completion(completion(prompt=prompt), MODEL, RULES).prompt == (1, 2)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"structured_outputs": {"choice": ["yes"]}}, "yes"),
        ({"structured_outputs": {"regex": "a{3}"}}, "aaa"),
        ({"structured_outputs": {"json": {"const": 7}}}, "7"),
        ({"structured_outputs": {"json": '{"const": 8}'}}, "8"),
        ({"response_format": {"type": "text"}}, "one two three"),
    ],
)
def test_structured_output_is_what_was_asked_for(fields: dict[str, object], said: str) -> None:
    (choice,) = ask_chat(chat(**fields), MODEL, RULES).choices
    assert text(choice.speech.ids[:-1]) == said


def test_any_object_is_json() -> None:
    (choice,) = ask_chat(chat(response_format={"type": "json_object"}), MODEL, RULES).choices
    assert isinstance(json.loads(text(choice.speech.ids[:-1])), dict)


@pytest.mark.parametrize(
    "fields",
    [
        {"structured_outputs": {"json": "no schema"}},
        {"structured_outputs": {"regex": "("}},
        {"structured_outputs": {"regex": "(" * 5000}},
        {"structured_outputs": {"regex": "[z-a]"}},
        {"structured_outputs": {"regex": "a{3,2}"}},
        {"structured_outputs": {"regex": r"\u12zz"}},
        {"structured_outputs": {"json": {"type": "integer", "multipleOf": 0}}},
        {"structured_outputs": {"json": {"type": "integer", "minimum": 1e999}}},
        {"structured_outputs": {"json": {"type": "array", "minItems": 5, "maxItems": 4}}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "odd"}}}},
    ],
)
def test_structured_output_that_cannot_be_made_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(Refused):
        ask_chat(chat(**fields), MODEL, RULES)


def test_scripted_pieces_are_one_token_each() -> None:
    rules = (Rule((Reply("abc", ("a", "bc")),)),)
    (choice,) = ask_chat(chat(), MODEL, rules).choices
    assert [token.text for token in choice.speech.tokens] == ["a", "bc", ""]


def said_by(ask: Ask) -> str:
    return "".join(token.text for token in ask.choices[0].speech.tokens)


@pytest.mark.parametrize("place", range(14))
def test_a_reply_begun_in_words_is_gone_on_with(place: int) -> None:
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "one two three"[:place]}]
    fields = {"messages": messages, "continue_final_message": True, "add_generation_prompt": False}
    assert said_by(ask_chat(chat(**fields), MODEL, RULES)) == "one two three"[place:]


@pytest.mark.parametrize("count", range(4))
def test_a_reply_begun_in_tokens_is_gone_on_with(count: int) -> None:
    first = ask_chat(chat(), MODEL, RULES)
    ids = [*first.prompt, *first.choices[0].speech.ids[:count]]
    rest = ask_completion(completion(prompt=ids, max_tokens=50), MODEL, RULES).choices[0].speech
    assert rest.ids == first.choices[0].speech.ids[count:]


def test_a_reply_begun_in_other_words_is_answered_anew() -> None:
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "two"}]
    fields = {"messages": messages, "continue_final_message": True, "add_generation_prompt": False}
    assert said_by(ask_chat(chat(**fields), MODEL, RULES)) == "one two three"


def test_a_least_length_counts_what_was_said_before() -> None:
    first = ask_chat(chat(min_tokens=9, max_tokens=20), MODEL, RULES)
    ids = [*first.prompt, *first.choices[0].speech.ids[:4]]
    rest = ask_completion(completion(prompt=ids, min_tokens=5, max_tokens=16), MODEL, RULES)
    assert rest.choices[0].speech.ids == first.choices[0].speech.ids[4:]
    endless = ask_chat(chat(ignore_eos=True, max_tokens=12), MODEL, RULES)
    ids = [*endless.prompt, *endless.choices[0].speech.ids[:5]]
    rest = ask_completion(completion(prompt=ids, ignore_eos=True, max_tokens=7), MODEL, RULES)
    assert rest.choices[0].speech.ids == endless.choices[0].speech.ids[5:]


def test_a_grammar_begins_anew() -> None:
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "aa"}]
    fields = {"messages": messages, "continue_final_message": True, "add_generation_prompt": False}
    assert said_by(ask_chat(chat(**fields, structured_outputs={"regex": "a{3}"}), MODEL, RULES)) == "aaa"
