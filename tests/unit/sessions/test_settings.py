"""The settings of sessions hold together."""

import pytest
from pydantic import ValidationError

from sessions.domain.budget import fitting
from sessions.domain.compaction import Marks
from sessions.settings import SessionSettings


def test_the_defaults_fit_the_default_window() -> None:
    shares = SessionSettings().shares(4096)
    assert fitting(shares) is shares
    assert (shares.summary, shares.note, shares.knowledge) == (480, 160, 600)
    assert SessionSettings().marks == Marks(low=20, high=30)


def test_a_tail_that_never_grows_is_refused() -> None:
    assert SessionSettings(verbatim_turns=29).marks == Marks(low=29, high=30)
    with pytest.raises(ValidationError, match="30 turns, of which 30 stay"):
        SessionSettings(verbatim_turns=30)
