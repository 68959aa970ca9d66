"""Events of a continuing answer become events of the first."""

import json

import pytest

from router.domain.chunk import Chunk, Counts, read_chunk
from router.domain.envelope import envelope_of
from router.domain.joint import Before, Joint
from router.domain.sse import event_data
from router.domain.stop_watch import StopWatch
from router.domain.told_ids import ToldIds
from router.errors import StreamBroken

CHAT = envelope_of({"id": "c-1", "object": "chat.completion.chunk", "created": 5, "model": "m"}, is_chat=True)
COMPLETION = envelope_of({"id": "c-1", "object": "text_completion", "created": 5, "model": "m"}, is_chat=False)
START = "Good day, Mr. Holmes"
HEAD = {"id": "c-1", "object": "chat.completion.chunk", "created": 5, "model": "m"}


def joint(
    overlap: str = "",
    *,
    must_overlap: bool = False,
    prompt: int | None = 10,
    is_chat: bool = True,
    stops: str = "",
    told_ids: ToldIds | None = None,
) -> Joint:
    return Joint(
        envelope=CHAT if is_chat else COMPLETION,
        overlap=overlap,
        must_overlap=must_overlap,
        before=Before(prompt_tokens=prompt, start_tokens=4, start_text=START, told_tokens=6),
        stop_watch=StopWatch([stops] if stops else [], "told", is_told_itself=False),
        told_ids=told_ids,
    )


def chunk(*choices: dict[str, object], **rest: object) -> Chunk:
    return read_chunk(json.dumps({"id": "c-9", "choices": choices, **rest}).encode())


def said(text: str, reason: str | None = None, **rest: object) -> Chunk:
    return chunk({"index": 0, "delta": {"content": text}, "finish_reason": reason, **rest})


def text(text: str, reason: str | None = None, **rest: object) -> Chunk:
    return chunk({"index": 0, "text": text, "logprobs": None, "finish_reason": reason, **rest})


def document(event: bytes) -> dict[str, object]:
    read: dict[str, object] = json.loads(event_data(event.removesuffix(b"\n\n")) or b"")
    return read


def choice(event: bytes) -> dict[str, object]:
    choices = document(event)["choices"]
    assert isinstance(choices, list)
    (one,) = choices
    assert isinstance(one, dict)
    return one


def test_a_completions_text_becomes_a_chats() -> None:
    event = joint().told(text("a", stop_reason=None, prompt_token_ids=[1], token_ids=[5]))
    told = {"index": 0, "delta": {"content": "a"}, "logprobs": None, "finish_reason": None, "token_ids": [5]}
    assert document(event) == {**HEAD, "choices": [told]}


def test_its_finish_becomes_a_chats_finish() -> None:
    told = choice(joint().told(text("a", "stop", stop_reason="##", token_ids=[2])))
    assert list(told) == ["index", "delta", "logprobs", "finish_reason", "stop_reason", "token_ids"]
    assert (told["finish_reason"], told["stop_reason"]) == ("stop", "##")


def test_a_second_role_is_swallowed() -> None:
    role = chunk({"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None})
    assert joint().told(role) == b""
    with_text = chunk({"index": 0, "delta": {"role": "assistant", "content": "a"}, "finish_reason": None})
    assert choice(joint().told(with_text))["delta"] == {"content": "a"}


def test_tool_calls_and_reasoning_behind_the_joint_go_through() -> None:
    call = chunk({"index": 0, "delta": {"tool_calls": [{"index": 0}]}, "finish_reason": None})
    assert choice(joint().told(call))["delta"] == {"tool_calls": [{"index": 0}]}
    thought = chunk({"index": 0, "delta": {"reasoning": "hm"}, "finish_reason": None})
    assert choice(joint().told(thought))["delta"] == {"reasoning": "hm"}


def test_a_completion_stays_one_and_its_places_are_those_of_the_whole() -> None:
    logprobs = {"text_offset": [0, 2, None], "tokens": ["a", "b"]}
    told = choice(joint(is_chat=False).told(text("ab", logprobs=logprobs)))
    assert told["logprobs"] == {"text_offset": [20, 22, None], "tokens": ["a", "b"]}
    assert choice(joint(is_chat=False).told(text("a", logprobs={"tokens": []})))["logprobs"] == {"tokens": []}
    assert choice(joint(is_chat=False).told(text("a")))["text"] == "a"


def test_what_was_told_is_swallowed() -> None:
    one = joint(" \n ")
    assert one.told(said(" ")) == b""
    assert choice(one.told(said("\n  a")))["delta"] == {"content": " a"}
    assert one.is_exact
    assert choice(one.told(said(" b")))["delta"] == {"content": " b"}


def test_another_space_is_not_told_twice_and_no_character_is_lost() -> None:
    one = joint("\n\n")
    assert choice(one.told(said("\nParis")))["delta"] == {"content": "Paris"}
    assert not one.is_exact
    assert not one.has_diverged
    assert choice(one.told(said("\n!")))["delta"] == {"content": "\n!"}


def test_what_must_come_again_and_does_not_is_broken() -> None:
    one = joint("abc", must_overlap=True)
    assert one.told(said("ab")) == b""
    with pytest.raises(StreamBroken, match="something else"):
        one.told(said("d"))
    assert one.has_diverged


def test_an_answer_that_ends_before_it_said_all_again_is_broken() -> None:
    one = joint("abc", must_overlap=True)
    with pytest.raises(StreamBroken, match="ended before"):
        one.told(said("ab", "stop"))
    assert one.has_diverged


def test_a_reply_of_space_may_end_without_saying_it_again() -> None:
    assert choice(joint(" ").told(said("", "stop")))["finish_reason"] == "stop"


def test_a_stop_string_across_the_joint_changes_the_finish() -> None:
    one = joint(stops="d#")
    assert one.told(said("# and so on")) == b""
    assert one.stopped_at == "d#"
    finish = choice(one.told(said("!", "length", stop_reason=None)))
    assert (finish["finish_reason"], finish["stop_reason"], finish["delta"]) == ("stop", "d#", {"content": ""})


def test_the_counts_are_those_of_one_turn() -> None:
    assert joint().counts(Counts(14, 3)) == Counts(10, 7)
    assert joint(prompt=None).counts(Counts(14, 3)) == Counts(10, 7)
    assert joint(prompt=None).counts(Counts(3, 3)) == Counts(0, 6)
    assert joint(prompt=20).counts(Counts(14, 3)) == Counts(20, 3)


def test_the_usage_is_that_of_the_whole_reply() -> None:
    usage = {"prompt_tokens": 14, "total_tokens": 17, "completion_tokens": 3}
    details = {"prompt_tokens_details": {"cached_tokens": 12, "created_cache_tokens": 2}}
    event = joint().told(chunk(usage={**usage, **details}, system_fingerprint="fp", metrics={"x": 1}, other=1))
    whole = {"prompt_tokens": 10, "total_tokens": 17, "completion_tokens": 7}
    cached = {"prompt_tokens_details": {"cached_tokens": 10, "created_cache_tokens": 2}}
    rest = {"system_fingerprint": "fp", "metrics": {"x": 1}, "usage": {**whole, **cached}}
    assert document(event) == {**HEAD, "choices": [], **rest}


def test_cached_tokens_that_are_not_told_stay_so() -> None:
    event = joint().told(chunk(usage={"prompt_tokens": 14, "completion_tokens": 3, "prompt_tokens_details": {}}))
    usage = document(event)["usage"]
    assert isinstance(usage, dict)
    assert usage["prompt_tokens_details"] == {"cached_tokens": None}


def test_running_counts_do_not_go_backwards() -> None:
    one = joint()
    running = {"index": 0, "delta": {"content": "a"}, "finish_reason": None}
    told = [
        document(one.told(chunk(running, usage={"prompt_tokens": 14, "completion_tokens": count})))["usage"]
        for count in (1, 2, 3)
    ]
    assert [usage["completion_tokens"] for usage in told if isinstance(usage, dict)] == [6, 6, 7]


def test_an_event_of_nothing_is_not_told() -> None:
    assert joint().told(chunk()) == b""


def test_the_prompt_is_never_told() -> None:
    prompt = "You are Dana. " * 4
    with pytest.raises(StreamBroken, match="repeats its prompt"):
        joint().told(text(f"{prompt}{START}é", token_ids=[5]))


def test_what_looks_like_it_and_is_the_models_own_is_told() -> None:
    several = list(range(9))
    assert choice(joint().told(text(f"{START} {START}", token_ids=several)))["delta"] == {"content": f"{START} {START}"}
    long = "x" * 40 + START
    one = joint()
    assert choice(one.told(text("I said: ", token_ids=[5])))["delta"] == {"content": "I said: "}
    assert choice(one.told(text(long, token_ids=[6])))["delta"] == {"content": long}
    assert choice(joint().told(text("x" * 80, token_ids=[5])))["delta"] == {"content": "x" * 80}
    assert choice(joint().told(said(long)))["delta"] == {"content": long}


def test_who_asked_for_token_ids_gets_each_of_them_once_also_those_without_text() -> None:
    told = ToldIds()
    told.feed([1, 2, 3])
    told.go_on(2)
    one = joint(told_ids=told)
    half = chunk({"index": 0, "delta": {"content": ""}, "finish_reason": None, "token_ids": [3]})
    assert one.told(half) == b""
    half = chunk({"index": 0, "delta": {"content": ""}, "finish_reason": None, "token_ids": [4]})
    assert choice(one.told(half))["token_ids"] == [4]
    assert choice(one.told(text("é", token_ids=[5])))["token_ids"] == [5]
    assert choice(one.told(said("!")))["delta"] == {"content": "!"}


def test_behind_a_stop_string_there_are_no_token_ids() -> None:
    one = joint(stops="d#", told_ids=ToldIds())
    assert choice(one.told(text("# and", token_ids=[7])))["token_ids"] == [7]
    assert one.told(text(" so on", token_ids=[8])) == b""
    assert choice(one.told(text("!", "length", token_ids=[9])))["token_ids"] == []
