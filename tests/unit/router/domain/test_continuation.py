"""How a reply goes on, and when it cannot."""

import json
from dataclasses import replace

import pytest

from router.domain.asked import read_asked
from router.domain.chunk import read_chunk
from router.domain.continuation import Continuation, Exhausted, Impossible, Plan, Planner
from router.domain.delivered import Delivered, Footing, Heard
from router.domain.exchange import Call, CallPath

MESSAGES = [{"role": "user", "content": "Wo? \ud83d"}]


def heard(*texts: str, ids: bool = True, **delta: object) -> Heard:
    one = Heard()
    if ids:
        one.keep_prompt_ids(b"[7,8]")
    for number, text in enumerate(texts):
        choice = {"delta": {"content": text, **delta}, "token_ids": [number] if ids else None}
        one.add_read(read_chunk(json.dumps({"choices": [choice]}).encode()))
    return one


def told(*texts: str, ids: bool = True, before: str = "", **delta: object) -> Delivered:
    one = heard(*texts, ids=ids, **delta)
    start = Footing(before, len(before))
    return Delivered(before + one.text(), start, one, True, one.prompt_tokens, one.has_reasoning)


def planner(**body: object) -> Planner:
    return planned(CallPath.CHAT, {"messages": MESSAGES, **body})


def completions(**body: object) -> Planner:
    return planned(CallPath.COMPLETIONS, body)


def planned(path: CallPath, body: dict[str, object]) -> Planner:
    sent = json.dumps({"model": "m", "stream": True, **body}).encode()
    call = Call(path, sent, "m", is_streamed=True, request_id="r", headers=(("a", "b"),))
    return Planner(call, read_asked(call))


def with_window(planner: Planner) -> Planner:
    return replace(planner, window_tokens=100)


def sent(plan: Plan) -> dict[str, object]:
    assert isinstance(plan, Continuation)
    assert plan.call.headers == (("a", "b"),)
    body: dict[str, object] = json.loads(plan.call.body)
    return body


def by_tokens(plan: Plan) -> bool:
    return "prompt" in sent(plan) and isinstance(sent(plan)["prompt"], list)


def test_by_tokens_the_prompt_ends_with_what_was_generated() -> None:
    options = {"temperature": 0, "cache_salt": "s", "stop_token_ids": [5], "min_tokens": 3, "stream_options": {"x": 1}}
    plan = planner(max_tokens=9, user="u", tool_choice="none", tools=[{}], **options).plan(told("a", "b"))
    assert sent(plan) == {
        **{"model": "m", "user": "u", **options, "prompt": [7, 8, 0, 1], "stream": True, "return_token_ids": True},
        **{"max_tokens": 7, "min_tokens": 1},
    }
    assert isinstance(plan, Continuation)
    assert plan.call.path is CallPath.COMPLETIONS
    assert (plan.start.text, plan.overlap) == ("ab", "")


def test_by_text_the_reply_becomes_the_head_of_a_message() -> None:
    plan = planner(max_tokens=9, max_completion_tokens=8, min_tokens=1, top_k=3, kv_transfer_params={}).plan(
        told("a", "b \n", ids=False)
    )
    assert sent(plan) == {
        "model": "m",
        "stream": True,
        "messages": [*MESSAGES, {"role": "assistant", "content": "ab"}],
        **{"max_tokens": 7, "max_completion_tokens": 6, "min_tokens": 0, "top_k": 3},
        **{"continue_final_message": True, "add_generation_prompt": False},
    }
    assert isinstance(plan, Continuation)
    assert (plan.call.path, plan.overlap, plan.must_overlap) == (CallPath.CHAT, " \n", False)


def test_a_message_that_was_being_continued_grows() -> None:
    begun = [*MESSAGES, {"role": "assistant", "content": "x", "name": "n"}]
    plan = planner(messages=begun, continue_final_message=True, add_generation_prompt=False).plan(told("a", ids=False))
    assert sent(plan)["messages"] == [*MESSAGES, {"role": "assistant", "content": "xa", "name": "n"}]


@pytest.mark.parametrize("messages", [[], ["a"], [{"role": "assistant", "content": [{"type": "text"}]}], "a"])
def test_messages_that_cannot_grow_end_the_reply(messages: object) -> None:
    plan = planner(messages=messages, continue_final_message=True).plan(told("a", ids=False))
    assert plan == Impossible("the prompt cannot be continued by text")


def test_a_reply_of_nothing_but_space_is_asked_for_anew() -> None:
    plan = planner().plan(told(" ", "\n", ids=False))
    assert plan == Continuation(planner().call, Footing(), " \n")


@pytest.mark.parametrize("end", ["\ufffd", "\ufffd \ufffd\n"])
def test_by_text_nothing_goes_on_behind_an_unreadable_character(end: str) -> None:
    plan = planner().plan(told("a", end, ids=False))
    assert isinstance(plan, Continuation)
    assert sent(plan)["messages"] == [*MESSAGES, {"role": "assistant", "content": "a"}]
    assert (plan.overlap, plan.must_overlap) == (end, False)


@pytest.mark.parametrize("prompt", ["Es war", ["Es war"]])
def test_a_completion_goes_on_by_its_text(prompt: object) -> None:
    plan = completions(prompt=prompt, max_tokens=9).plan(told(" ein", ids=False))
    assert sent(plan) == {"model": "m", "stream": True, "prompt": "Es war ein", "max_tokens": 8}


def test_a_completion_without_limit_has_sixteen_tokens() -> None:
    assert sent(completions(prompt="p").plan(told("a", ids=False)))["max_tokens"] == 15
    assert sent(completions(prompt="p").plan(told("a")))["max_tokens"] == 15
    endless = completions(prompt="p", max_tokens=None)
    assert sent(endless.plan(told("a")))["max_tokens"] is None
    assert sent(endless.plan(told("a", ids=False)))["max_tokens"] is None


def test_a_prompt_of_tokens_needs_the_tokens_of_the_reply() -> None:
    plan = completions(prompt=[7, 8]).plan(told("a", ids=False))
    assert plan == Impossible("the prompt cannot be continued by text")


def test_all_tokens_used_means_the_end() -> None:
    assert planner(max_tokens=2).plan(told("a", "b")) == Exhausted()
    assert replace(planner(), window_tokens=4).plan(told("a", "b")) == Exhausted()


def test_a_chat_without_limit_goes_by_text_unless_the_window_is_known() -> None:
    assert not by_tokens(planner().plan(told("a")))
    assert sent(with_window(planner()).plan(told("a")))["max_tokens"] == 97
    assert not by_tokens(with_window(planner()).plan(told("a", ids=False)))


@pytest.mark.parametrize(
    "body",
    [
        {"tools": [{}]},
        {"logprobs": True},
        {"bad_words": ["a"]},
        {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
    ],
)
def test_what_only_a_chat_can_do_goes_by_text(body: dict[str, object]) -> None:
    assert not by_tokens(planner(max_tokens=9, **body).plan(told("a")))


def test_a_completion_keeps_its_logprobs() -> None:
    plan = completions(prompt="p", logprobs=2, max_tokens=9).plan(told("a"))
    assert by_tokens(plan)
    assert sent(plan)["logprobs"] == 2


def test_held_back_text_is_generated_again_if_it_comes_out_the_same() -> None:
    greedy = planner(max_tokens=9, temperature=0, stop=["##"])
    plan = greedy.plan(told("ab", "cd"))
    assert isinstance(plan, Continuation)
    assert (plan.start.text, plan.overlap, plan.must_overlap) == ("abc", "d", True)
    assert not by_tokens(greedy.plan(told("ab", "cd"), has_diverged=True))
    assert not by_tokens(planner(max_tokens=9, stop=["##"]).plan(told("ab", "cd")))


def test_held_back_text_that_fits_needs_no_second_generation() -> None:
    plan = planner(max_tokens=9, stop=["##"]).plan(told("ab", "c"))
    assert by_tokens(plan)
    assert isinstance(plan, Continuation)
    assert (plan.start.text, plan.overlap) == ("abc", "")


def test_under_a_schema_the_whole_reply_is_made_anew() -> None:
    repeatable = planner(temperature=0, response_format={"type": "json_object"})
    assert repeatable.plan(told("{")) == Continuation(repeatable.call, Footing(), "{", must_overlap=True)
    assert repeatable.plan(told("{"), has_diverged=True) == Impossible(
        "an answer under a schema came out differently the second time"
    )
    chance = planner(response_format={"type": "json_object"})
    assert chance.plan(told("{")) == Impossible("an answer under a schema cannot be continued")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"n": 2}, "several replies"),
        ({"use_beam_search": True}, "several replies"),
        ({"tools": [{}], "tool_choice": "required"}, "tool call"),
        ({"echo": True}, "repeats its prompt"),
        ({"include_reasoning": False}, "not told"),
    ],
)
def test_what_cannot_be_continued_says_why(body: dict[str, object], why: str) -> None:
    plan = planner(**body).plan(told("a"))
    assert isinstance(plan, Impossible)
    assert why in plan.why


def test_a_tool_call_that_was_begun_ends_the_reply() -> None:
    plan = planner().plan(told("a", tool_calls=[{}]))
    assert plan == Impossible("a tool call cannot be continued")


def test_reasoning_is_continued_only_behind_it_and_by_its_tokens() -> None:
    assert planner(max_tokens=9).plan(told("", reasoning="hm")) == Impossible("reasoning cannot be continued")
    assert by_tokens(planner(max_tokens=9).plan(told("a", reasoning="hm")))
    by_text = planner(max_tokens=9).plan(told("a", reasoning="hm", ids=False))
    assert by_text == Impossible("a reply that was reasoned about cannot be continued by its text")
