"""What was handed out, read only when it is asked for."""

import json

import pytest

from router.domain.chunk import Chunk, read_chunk
from router.domain.delivered import FOLD_BYTES, Delivered, Footing, Heard, Step


def event(text: str = "", ids: list[int] | None = None, **rest: object) -> bytes:
    delta = rest.pop("delta", {"content": text})
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None, "token_ids": ids}
    document = {"id": "c", "choices": [choice], **rest}
    return b"data: " + json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


def chunk(event: bytes) -> Chunk:
    return read_chunk(event.removeprefix(b"data: "))


def heard(*events: bytes, prompt: bytes = b"[7,8]") -> Heard:
    one = Heard()
    if prompt:
        one.keep_prompt_ids(prompt)
    for each in events:
        one.add(each)
    return one


def delivered(one: Heard, *, start: Footing | None = None, before: str = "", is_exact: bool = True) -> Delivered:
    text = before + one.text()
    return Delivered(text=text, start=start or Footing(), heard=one, is_exact=is_exact, prompt_tokens=one.prompt_tokens)


HELLO = heard(event("Hel", [1]), event("", [2]), event("lo", [3]), event("", [4]))


def test_text_and_tokens_are_those_of_all_events() -> None:
    told = delivered(HELLO)
    assert told.text == "Hello"
    assert told.tokens(per_event=9) == 4
    assert told.prompt_tokens == 2
    assert told.is_counted
    assert HELLO.steps == [Step(3, 1, brought=1), Step(5, 3, brought=1)]


def test_tokens_without_text_at_the_end_are_left_out() -> None:
    assert delivered(HELLO).footing(held_chars=0) == Footing("Hello", 3, [7, 8, 1, 2, 3])


def test_tokens_that_came_at_once_may_end_within_a_character() -> None:
    at_once = heard(event("a", [1]), event("好", [2, 3, 4]))
    assert delivered(at_once).footing(held_chars=0) == Footing("a", 1, [7, 8, 1])
    assert delivered(heard(event("好", [2, 3, 4]))).footing(held_chars=0) == Footing("", 0, [7, 8])


@pytest.mark.parametrize(
    ("behind", "start"),
    [("b", Footing("好", 2, [7, 8, 1, 2])), ("é", Footing("", 0, [7, 8])), (" é", Footing("", 0, [7, 8]))],
)
def test_they_ended_with_a_whole_one_where_only_characters_of_one_byte_come_next(behind: str, start: Footing) -> None:
    at_once = heard(event("好", [1, 2]), event(behind, [3, 4]))
    assert delivered(at_once).footing(held_chars=0) == start


def test_what_comes_next_stands_behind_what_is_held_back() -> None:
    at_once = heard(event("a", [1, 2]), event("b好", [3, 4]), event("cd", [5, 6]))
    assert delivered(at_once).footing(held_chars=0) == Footing("ab好", 4, [7, 8, 1, 2, 3, 4])
    assert delivered(at_once).footing(held_chars=1) == Footing("", 0, [7, 8])
    assert delivered(at_once).footing(held_chars=2) == Footing("ab好", 2, [7, 8, 1, 2])


def test_with_stop_strings_the_tokens_run_ahead_of_the_text() -> None:
    assert delivered(HELLO).footing(held_chars=1) == Footing("Hell", 1, [7, 8, 1])
    assert delivered(HELLO).footing(held_chars=3) == Footing("", 0, [7, 8])


def test_a_footing_stands_on_the_one_before() -> None:
    start = Footing("He", 1, [7, 8, 9])
    one = heard(event("llo", [3]), prompt=b"")
    assert delivered(one, start=start, before="He").footing(held_chars=0) == Footing("Hello", 2, [7, 8, 9, 3])
    assert delivered(Heard(), start=start, before="He").footing(held_chars=0) == start


def test_without_all_tokens_there_is_no_footing() -> None:
    assert delivered(heard(event("a", [1]), prompt=b"")).footing(held_chars=0) is None
    assert delivered(heard(event("a", None))).footing(held_chars=0) is None
    assert delivered(heard(event("a", [1])), is_exact=False).footing(held_chars=0) is None


def test_the_tokens_of_a_head_are_rather_too_many() -> None:
    told = delivered(HELLO, start=Footing("", 10))
    assert told.tokens_of("Hel", held_chars=0, per_event=1) == 11
    assert told.tokens_of("Hell", held_chars=0, per_event=1) == 13
    assert told.tokens_of("Hell", held_chars=1, per_event=1) == 11
    assert told.tokens_of("Hello!", held_chars=0, per_event=1) == 14


def test_where_nobody_tells_tokens_are_events() -> None:
    role = event(delta={"role": "assistant", "content": ""})
    told = delivered(heard(role, event("a"), event(""), event("b"), prompt=b""))
    assert told.tokens(per_event=1) == 3
    assert told.tokens(per_event=4) == 12
    assert not told.is_counted


def test_an_engine_that_counts_is_believed() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 9}
    told = delivered(heard(event("a", usage=usage), prompt=b""))
    assert (told.tokens(per_event=4), told.prompt_tokens, told.is_counted) == (9, 5, True)
    assert delivered(heard(event("a", [1], usage=usage))).prompt_tokens == 2


def test_reasoning_and_tools_are_noticed() -> None:
    one = heard(event(delta={"reasoning": "hm"}))
    one.fold()
    assert one.has_reasoning
    tool = delivered(heard(event(delta={"tool_calls": [{}]})))
    assert tool.has_more_than_text


def test_what_is_read_already_keeps_its_place() -> None:
    one = heard(event("a", [1]))
    one.add_read(chunk(event("b", [2])))
    one.add(event("c", [3]))
    one.add(b": comment\n\n")
    assert one.text() == "abc"
    assert [*one.ids] == [1, 2, 3]


def test_memory_is_bounded_by_reading_in_between() -> None:
    one = Heard()
    for number in range(2 * FOLD_BYTES // len(event("ab", [1]))):
        one.add(event("ab", [number]))
    assert one._raw_bytes <= FOLD_BYTES
    assert one.text() == "ab" * len(one.ids)


def test_what_cannot_be_read_is_noticed() -> None:
    one = heard(b"data: {\n\n")
    assert one.text() == ""
    assert not one.is_readable


@pytest.mark.parametrize(("ids", "known"), [(b"[1, 2]", [1, 2]), (b"", None), (b"[1,a]", None), (b'["1"]', None)])
def test_the_prompts_tokens_are_kept_as_bytes(ids: bytes, known: list[int] | None) -> None:
    one = heard(prompt=ids)
    assert one.prompt_ids() == known
    assert one.has_prompt_ids is bool(ids)


@pytest.mark.parametrize("ids", ['["a"]', "[-1]", "[null]", "[1.5]", f"[{2**80}]"])
def test_tokens_that_are_no_numbers_are_not_told(ids: str) -> None:
    one = heard(event("a", [1]), event("b", [2]).replace(b"[2]", ids.encode()))
    one.add_read(chunk(event("c", [3]).replace(b"[3]", ids.encode())))
    assert one.text() == "abc"
    assert not one.knows_ids
