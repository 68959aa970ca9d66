"""Questions asked, jobs watched and cancelled over HTTP."""

from typing import Any
from uuid import UUID, uuid4

import httpx

from sessions.domain.citation import Citation, DocumentId
from sessions.domain.job import Answer, Claim, Ended, ItemError, WorkerId
from sessions.domain.viewer import TenantId
from tests.integration.api.house import BODY_LIMIT_BYTES, House
from tests.support.session_fakes import START
from tests.support.shelved import shelved


async def base_of(house: House, *texts: str) -> tuple[str, str]:
    base, document = await shelved(house.shelf, TenantId(house.here.tenant), *texts)
    return str(base.id), str(document.id)


async def ask(house: House, base: str, *questions: str, key: str | None = None, **fields: object) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    body = {"questions": list(questions), **fields}
    return await house.here.instructor.post(f"/v1/knowledge-bases/{base}/answers", json=body, headers=headers)


async def claimed(house: House) -> Claim:
    found = await house.jobs.claim(
        WorkerId("w"), at=START.replace(year=2030), until=START.replace(year=2031), running=9
    )
    assert found is not None
    return found


async def read(house: House, job: str, **query: Any) -> dict[str, Any]:
    answer = await house.here.service.get(f"/v1/jobs/{job}", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_job_is_accepted_with_where_to_look(house: House) -> None:
    base, _ = await base_of(house)
    answer = await ask(house, base, "Are returns free?", "退货要钱吗?")
    job = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (202, f"/v1/jobs/{job['id']}")
    assert (job["kind"], job["state"], job["knowledge_base_id"]) == ("answers", "queued", base)
    assert (job["total"], job["done"], job["failed"], job["progress"]) == (2, 0, 0, 0.0)
    assert job["layers"] == []
    seen = await read(house, job["id"])
    assert [result["question"] for result in seen["results"]] == ["Are returns free?", "退货要钱吗?"]
    assert {result["state"] for result in seen["results"]} == {"queued"}


async def test_each_question_shows_its_own_answer_or_error(house: House) -> None:
    base, document = await base_of(house)
    job = (await ask(house, base, "one", "two")).json()["id"]
    first, second = await claimed(house), await claimed(house)
    answer = Answer(
        "Yes [1].",
        "length",
        "large",
        "faq",
        fell_back=True,
        citations=(Citation(DocumentId(UUID(document)), "Returns", 1, "A", 0.5),),
    )
    await house.jobs.settle(first, Ended(answer=answer), at=START)
    await house.jobs.settle(second, Ended(error=ItemError("tutor_broke", "it broke")), at=START)
    seen = await read(house, job)
    assert (seen["state"], seen["done"], seen["failed"], seen["progress"]) == ("completed", 1, 1, 1.0)
    good, bad = seen["results"]
    assert (good["state"], good["answer"], good["finish_reason"]) == ("completed", "Yes [1].", "length")
    assert (good["model"], good["tier"], good["fell_back"], good["error"]) == ("large", "faq", True, None)
    assert good["citations"] == [{"document_id": document, "document_name": "Returns", "chunk": 1, "heading": "A"}]
    assert (bad["state"], bad["answer"], bad["citations"]) == ("failed", None, [])
    assert bad["error"] == {"code": "tutor_broke", "message": "it broke"}


async def test_results_come_in_pages(house: House) -> None:
    base, _ = await base_of(house)
    job = (await ask(house, base, *"abcde")).json()["id"]
    first = await read(house, job, limit=3)
    rest = await read(house, job, limit=3, cursor=first["next_cursor"])
    assert [result["number"] for result in (*first["results"], *rest["results"])] == [1, 2, 3, 4, 5]
    assert (first["total"], rest["next_cursor"]) == (5, None)


async def test_a_long_document_shows_its_layers(house: House) -> None:
    base, document = await base_of(house, *["word " * 90] * 5)
    job = (await ask(house, base, "What for?", document_id=document)).json()
    assert (job["document_id"], job["total"]) == (document, 1)
    assert job["layers"] == [
        {"layer": 1, "total": 3, "completed": 0},
        {"layer": 2, "total": 2, "completed": 0},
        {"layer": 3, "total": 1, "completed": 0},
    ]
    await house.jobs.settle(await claimed(house), Ended(answer=Answer("So.", "stop")), at=START)
    seen = await read(house, job["id"])
    assert (seen["state"], seen["progress"]) == ("running", round(1 / 7, 4))
    assert seen["layers"][0]["completed"] == 1


async def test_cancelling_ends_the_job_at_once(house: House) -> None:
    base, _ = await base_of(house)
    job = (await ask(house, base, "one", "two")).json()["id"]
    answer = await house.here.instructor.post(f"/v1/jobs/{job}/cancel")
    assert (answer.status_code, answer.json()["state"], answer.json()["cancelled"]) == (202, "cancelled", 2)
    again = await house.here.instructor.post(f"/v1/jobs/{job}/cancel")
    assert again.json() == answer.json()


async def test_jobs_are_listed_newest_first(house: House) -> None:
    base, _ = await base_of(house)
    asked = [(await ask(house, base, f"question {count}")).json()["id"] for count in range(3)]
    listed = (await house.here.service.get("/v1/jobs", params={"limit": 2})).json()
    rest = (await house.here.service.get("/v1/jobs", params={"cursor": listed["next_cursor"]})).json()
    assert [job["id"] for job in (*listed["items"], *rest["items"])] == asked[::-1]
    assert "results" not in listed["items"][0]


async def test_the_same_key_asks_once(house: House) -> None:
    base, document = await base_of(house)
    first = await ask(house, base, "one", key="k")
    assert (await ask(house, base, "one", key="k")).json()["id"] == first.json()["id"]
    for other in (await ask(house, base, "two", key="k"), await ask(house, base, "one", key="k", document_id=document)):
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


async def test_the_same_key_gets_its_job_when_the_base_is_gone(house: House) -> None:
    base, document = await base_of(house)
    first = await ask(house, base, "one", key="k", document_id=document)
    await house.here.instructor.delete(f"/v1/knowledge-bases/{base}")
    again = await ask(house, base, "one", key="k", document_id=document)
    assert (again.status_code, again.json()["id"]) == (202, first.json()["id"])
    refused = await ask(house, base, "one", key="another")
    assert (refused.status_code, refused.json()["code"]) == (404, "knowledge_base_not_found")


async def test_what_cannot_be_asked_is_refused(house: House) -> None:
    base, _ = await base_of(house)
    for refused, code in (
        (await ask(house, base), "invalid_request"),
        (await ask(house, base, *"abcdefg"), "too_many_questions"),
        (await ask(house, base, *["why?"] * 501), "too_many_questions"),
        (await ask(house, base, "bell \x07"), "invalid_request"),
    ):
        assert (refused.status_code, refused.json()["code"]) == (422, code)
    for base_id, fields, code in (
        (str(uuid4()), {}, "knowledge_base_not_found"),
        ("x", {}, "knowledge_base_not_found"),
        (base, {"document_id": str(uuid4())}, "document_not_found"),
        (base, {"document_id": "x"}, "document_not_found"),
    ):
        missing = await ask(house, base_id, "one", **fields)
        assert (missing.status_code, missing.json()["code"]) == (404, code)


async def test_a_tenant_with_enough_jobs_has_to_wait(house: House) -> None:
    base, _ = await base_of(house)
    for count in range(4):
        assert (await ask(house, base, f"question {count}")).status_code == 202
    refused = await ask(house, base, "one more")
    assert (refused.status_code, refused.json()["code"], refused.json()["limit"]) == (429, "too_many_jobs", 4)
    assert int(refused.headers["retry-after"]) > 0


async def test_as_many_questions_as_a_job_takes_may_each_be_as_long_as_it_may(house: House) -> None:
    base, _ = await base_of(house)
    questions = [f"{number} " + "word " * 400 for number in range(3)]
    assert len(str(questions)) > BODY_LIMIT_BYTES
    assert (await ask(house, base, *questions)).status_code == 202
    assert (await ask(house, base, "x" * 20_000)).json()["code"] == "body_too_large"
