"""Texts have as many tokens as the server counts, or as letters let guess."""

import json

import pytest

from loadtests.users.caller import Caller
from loadtests.users.ruler import Ruler
from tests.support.scripted_http import Scripted, scripted_http, whole


def test_where_the_server_does_not_count_four_letters_are_a_token() -> None:
    with scripted_http(whole(404, {})) as server, Caller(server.url, key=None, patience_s=5) as caller:
        ruler = Ruler(caller, model="m")
        sized = ruler.text("a", 100)
        assert (len(sized.text), sized.is_counted) == (400, False)
        assert len(ruler.text("a", 100, exactly=True).text) == 400
        assert len(server.requests) == 1


def test_the_server_is_asked_once_what_a_token_is() -> None:
    with scripted_http(whole(200, {"count": 2000})) as server, Caller(server.url, key=None, patience_s=5) as caller:
        ruler = Ruler(caller, model="m")
        assert [len(ruler.text("a", tokens).text) for tokens in (100, 7)] == [200, 14]
        assert ruler.text("a", 100).is_counted
        assert len(server.requests) == 1


def test_an_exact_prompt_is_counted_with_all_that_is_put_around_it_until_it_fits() -> None:
    answers = [whole(200, {"count": count}) for count in (2000, 110, 100)]
    with scripted_http(*answers) as server, Caller(server.url, key=None, patience_s=5) as caller:
        sized = Ruler(caller, model="m").text("a", 100, exactly=True)
        bodies = [request.content for request in server.requests]
    assert len(sized.text) == 180
    assert json.dumps(bodies[2]) == json.dumps({"model": "m", "messages": [{"role": "user", "content": sized.text}]})


def test_a_length_that_was_too_short_or_too_long_is_not_tried_again() -> None:
    answers = [whole(200, {"count": count}) for count in (2000, 102, 98, 100)]
    with scripted_http(*answers) as server, Caller(server.url, key=None, patience_s=5) as caller:
        assert len(Ruler(caller, model="m").text("a", 100, exactly=True).text) == 198


def test_blocks_are_measured_alike() -> None:
    with scripted_http(whole(200, {"count": 1000})) as server, Caller(server.url, key=None, patience_s=5) as caller:
        sized = Ruler(caller, model="m").text_of_blocks("a", (1, 2, 3), block_tokens=10, tokens=25)
    assert (len(sized.text), sized.is_counted) == (100, True)


@pytest.mark.parametrize("answer", [whole(200, {"count": "many"}), whole(200, []), whole(500, {"count": 7})])
def test_what_is_no_count_is_none(answer: Scripted) -> None:
    with scripted_http(answer) as server, Caller(server.url, key=None, patience_s=5) as caller:
        assert not Ruler(caller, model="m").text("a", 1).is_counted


def test_a_server_that_is_not_there_does_not_count() -> None:
    with scripted_http() as server, Caller(server.url, key=None, patience_s=5) as caller:
        assert not Ruler(caller, model="m").text("a", 1).is_counted
