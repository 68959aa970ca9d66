"""The settings of jobs and what follows from them."""

import pytest
from pydantic import ValidationError

from sessions.domain.job import RetryRule
from sessions.job_settings import JobSettings


def test_the_defaults_work() -> None:
    settings = JobSettings()
    assert settings.retry == RetryRule(attempts=3, pause_s=2.0)
    shares = settings.shares(4096)
    assert (shares.window, shares.answer, shares.summary) == (4096, 400, 240)
    assert (shares.question, shares.background) == (512, 1200)
    assert settings.questions_bytes >= 500 * 2_000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workers", -1),
        ("jobs_per_tenant", 0),
        ("questions_per_job", 501),
        ("running_per_tenant", 0),
        ("attempts", 0),
        ("lease_s", 0.5),
        ("poll_s", 0),
        ("unknown", 1),
    ],
)
def test_what_is_senseless_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValidationError, match=name):
        JobSettings.model_validate({name: value})
