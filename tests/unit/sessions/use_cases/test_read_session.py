"""Who sees which sessions."""

import pytest

from sessions.domain.session import SessionFilter, State
from sessions.errors import SessionNotFound
from sessions.use_cases.start_session import SessionOrder
from tests.support.session_fakes import viewer
from tests.support.stage import staged


async def test_a_trainee_sees_the_own_sessions_and_an_instructor_all_of_the_tenant() -> None:
    stage = await staged()
    other = viewer(tenant=stage.trainee.tenant)
    theirs = await stage.use.start_session(SessionOrder(other, stage.scenario.id, {}))
    own = await stage.use.list_sessions(stage.trainee, SessionFilter(), 10)
    everything = await stage.use.list_sessions(stage.author, SessionFilter(), 10)
    assert own.items == (stage.session,)
    assert everything.items == (theirs, stage.session)
    assert await stage.use.read_session(stage.author, theirs.id) == theirs
    with pytest.raises(SessionNotFound):
        await stage.use.read_session(stage.trainee, theirs.id)
    assert (await stage.use.list_sessions(viewer(sees_all=True), SessionFilter(), 10)).items == ()


async def test_a_list_is_narrowed_by_trainee_and_state() -> None:
    stage = await staged()
    closed = await stage.use.close_session(stage.trainee, stage.session.id)
    await stage.use.start_session(SessionOrder(stage.trainee, stage.scenario.id, {}))
    of_trainee = SessionFilter(trainee=stage.trainee.account, state=State.CLOSED)
    assert (await stage.use.list_sessions(stage.author, of_trainee, 10)).items == (closed,)
    of_author = SessionFilter(trainee=stage.author.account)
    assert (await stage.use.list_sessions(stage.author, of_author, 10)).items == ()
