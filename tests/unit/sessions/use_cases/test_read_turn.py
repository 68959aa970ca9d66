"""Stored turns are read by number."""

import pytest

from sessions.errors import SessionNotFound, TurnNotFound
from tests.support.session_fakes import viewer
from tests.support.stage import staged


async def test_turns_come_by_number_and_in_pages() -> None:
    stage = await staged()
    played = [await stage.play(f"message {number}") for number in range(5)]
    assert list(await stage.use.list_turns(stage.trainee, stage.session.id, 3)) == played[:3]
    assert list(await stage.use.list_turns(stage.author, stage.session.id, 3, 3)) == played[3:]
    assert await stage.use.read_turn(stage.trainee, stage.session.id, 4) == played[3]


async def test_what_is_not_there_is_not_found() -> None:
    stage = await staged()
    with pytest.raises(TurnNotFound):
        await stage.use.read_turn(stage.trainee, stage.session.id, 1)
    with pytest.raises(SessionNotFound):
        await stage.use.read_turn(viewer(), stage.session.id, 1)
    with pytest.raises(SessionNotFound):
        await stage.use.list_turns(viewer(sees_all=True), stage.session.id, 10)
