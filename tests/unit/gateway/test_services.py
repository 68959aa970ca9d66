"""A process is ready when everything it needs is there."""

from gateway.services import Check, Readiness


def test_what_is_not_needed_may_be_missing() -> None:
    redis = Check(ok=False, detail="away", needed=False)
    assert Readiness({"redis": redis}).ready
    assert Readiness({"redis": redis, "postgres": Check(ok=True, detail="answers")}).ready
    assert not Readiness({"redis": redis, "postgres": Check(ok=False, detail="away")}).ready
