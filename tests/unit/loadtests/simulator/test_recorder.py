"""Requests in their order, and prefixes that two of them share."""

from loadtests.simulator.recorder import Record, Recorder, prefix_of


def record(words: str) -> Record:
    return Record(
        at_s=0,
        path="/v1/chat/completions",
        request_id=words,
        session="",
        salt="",
        priority=0,
        prompt_tokens=1,
        prefix="",
        stream=False,
        body="",
    )


def test_requests_are_numbered_and_their_numbers_go_on_after_a_clear() -> None:
    recorder = Recorder()
    recorder.add(record("a"))
    recorder.clear()
    recorder.add(record("b"))
    assert [(each.number, each.request_id) for each in recorder.records] == [(2, "b")]


def test_prompts_that_begin_alike_have_one_prefix_and_a_salt_another() -> None:
    beginning = list(range(100))
    assert prefix_of([*beginning, 1], "") == prefix_of([*beginning, 2], "")
    assert prefix_of(beginning, "") != prefix_of(beginning, "salt")
    assert prefix_of([5, *beginning], "") != prefix_of(beginning, "")
