from dataclasses import replace
from datetime import timedelta

from gateway.domain.access import KeyId
from tests.integration.api.house import House
from tests.support.session_fakes import START


def key_of(house: House) -> KeyId:
    return KeyId(house.here.trainee.headers["authorization"].split("_")[1])


async def test_a_key_works_until_it_expires_or_is_revoked(house: House) -> None:
    assert (await house.here.trainee.get("/v1/sessions")).status_code == 200
    key = key_of(house)
    usual = house.keys.stored[key]
    for dead in (replace(usual, expires_at=START), replace(usual, revoked_at=START)):
        house.keys.stored[key] = dead
        assert (await house.here.trainee.get("/v1/sessions")).status_code == 401
    house.keys.stored[key] = replace(usual, expires_at=START + timedelta(days=1))
    assert (await house.here.trainee.get("/v1/sessions")).status_code == 200


async def test_unknown_and_wrong_keys_get_the_same_answer(house: House) -> None:
    shown = (f"Bearer dy_{key_of(house)}_wrong", "Bearer dy_unknown_secret")
    answers = [await house.nobody.get("/v1/sessions", headers={"Authorization": value}) for value in shown]
    assert {answer.status_code for answer in answers} == {401}
    assert answers[0].content == answers[1].content
