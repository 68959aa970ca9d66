"""Knowledge bases and documents over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from sessions.domain.knowledge import MediaType, digest
from tests.integration.api.house import BODY_LIMIT_BYTES, DOCUMENTS, SCENARIO, House, People
from tests.support.document_files import docx_of, pdf_of
from tests.support.eventually import eventually

TEXT = "A pump costs 48 yuan."
FILES = {
    MediaType.TEXT: TEXT.encode(),
    MediaType.MARKDOWN: f"# Prices\n\n{TEXT}".encode(),
    MediaType.HTML: f"<h1>Prices</h1><p>{TEXT}</p>".encode(),
    MediaType.PDF: pdf_of(TEXT),
    MediaType.DOCX: docx_of(("Heading 1", "Prices"), ("Normal", TEXT)),
}


async def made(house: House, name: str = "products", *, people: People | None = None, guidance: str = "") -> str:
    who = (people or house.here).instructor
    answer = await who.post("/v1/knowledge-bases", json={"name": name, "guidance": guidance})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def put(
    house: House, base: str, raw: bytes, *, name: str | None = "prices", media_type: str = "text/plain"
) -> httpx.Response:
    return await house.here.instructor.post(
        f"/v1/knowledge-bases/{base}/documents",
        content=raw,
        params={} if name is None else {"name": name},
        headers={"Content-Type": media_type},
    )


async def state(house: House, base: str) -> tuple[int, int, int]:
    told = (await house.here.instructor.get(f"/v1/knowledge-bases/{base}")).json()
    return told["version"], told["document_count"], told["chunk_count"]


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    told: dict[str, Any] = answer.json()
    assert (answer.status_code, told["code"]) == (status, code), answer.text
    return told


async def test_a_base_is_made_once_and_listed(house: House) -> None:
    instructor = house.here.instructor
    first = await instructor.post("/v1/knowledge-bases", json={"name": " 产品 ", "guidance": "Quote prices."})
    assert first.status_code == 201
    told = first.json()
    assert first.headers["location"] == f"/v1/knowledge-bases/{told['id']}"
    assert (told["name"], told["guidance"], told["version"]) == ("产品", "Quote prices.", 1)
    again = await instructor.post("/v1/knowledge-bases", json={"name": "产品", "guidance": "Quote prices."})
    assert (again.status_code, again.json()) == (200, told)
    refused(await instructor.post("/v1/knowledge-bases", json={"name": "产品"}), 409, "knowledge_base_exists")
    second = await made(house, "second")
    page = (await instructor.get("/v1/knowledge-bases?limit=1")).json()
    assert [base["id"] for base in page["items"]] == [second]
    rest = (await instructor.get("/v1/knowledge-bases", params={"cursor": page["next_cursor"]})).json()
    assert rest["items"] == [told]
    assert (await instructor.get(f"/v1/knowledge-bases/{told['id']}")).json() == told


@pytest.mark.parametrize("media_type", MediaType)
async def test_a_document_is_taken_in_every_format(house: House, media_type: MediaType) -> None:
    base, raw = await made(house), FILES[media_type]
    answer = await put(house, base, raw, name="价格 2026", media_type=media_type)
    assert answer.status_code == 201, answer.text
    told = answer.json()
    assert answer.headers["location"] == f"/v1/knowledge-bases/{base}/documents/{told['id']}"
    assert (told["name"], told["media_type"], told["knowledge_base_id"]) == ("价格 2026", media_type, base)
    assert (told["sha256"], told["size_bytes"]) == (digest(raw), len(raw))
    assert (told["tokens"], told["chunk_count"]) == (5, 1)
    assert (await house.here.service.get(answer.headers["location"])).json() == told
    assert (await house.here.operator.get(f"/v1/knowledge-bases/{base}/documents")).json()["items"] == [told]


async def test_a_short_text_may_come_as_json(house: House) -> None:
    base = await made(house)
    path = f"/v1/knowledge-bases/{base}/documents"
    answer = await house.here.instructor.post(path, json={"name": "prices", "text": TEXT})
    assert (answer.status_code, answer.json()["media_type"]) == (201, "text/plain")
    as_it_is = await put(house, base, TEXT.encode())
    assert (as_it_is.status_code, as_it_is.json()) == (200, answer.json())
    long = {"name": "long", "text": "x" * BODY_LIMIT_BYTES}
    told = refused(await house.here.instructor.post(path, json=long), 413, "body_too_large")
    assert told["limit_bytes"] == BODY_LIMIT_BYTES
    assert (await put(house, base, long["text"].encode(), name="long")).status_code == 201


async def test_the_same_again_changes_nothing_and_a_newer_one_takes_its_place(house: House) -> None:
    base = await made(house)
    first = await put(house, base, TEXT.encode())
    again = await put(house, base, TEXT.encode())
    assert (again.status_code, again.json()) == (200, first.json())
    assert await state(house, base) == (2, 1, 1)
    newer = await put(house, base, TEXT.replace("48", "52").encode())
    assert newer.status_code == 200
    assert newer.json()["id"] != first.json()["id"]
    assert await state(house, base) == (3, 1, 1)
    refused(await house.here.instructor.get(first.headers["location"]), 404, "document_not_found")


async def test_documents_and_bases_are_removed(house: House) -> None:
    base = await made(house)
    document = (await put(house, base, TEXT.encode())).headers["location"]
    gone = await house.here.instructor.delete(document)
    assert (gone.status_code, gone.content, gone.headers["cache-control"]) == (204, b"", "no-store")
    refused(await house.here.instructor.delete(document), 404, "document_not_found")
    assert await state(house, base) == (3, 0, 0)
    assert (await house.here.instructor.delete(f"/v1/knowledge-bases/{base}")).status_code == 204
    refused(await house.here.instructor.get(f"/v1/knowledge-bases/{base}"), 404, "knowledge_base_not_found")
    refused(await put(house, base, TEXT.encode()), 404, "knowledge_base_not_found")


async def test_what_cannot_be_read_is_refused_with_its_reason_and_nothing_is_written(house: House) -> None:
    base = await made(house)
    await put(house, base, TEXT.encode())
    before = await state(house, base)
    for raw, media_type, reason in (
        ("价格".encode("gb18030"), MediaType.TEXT, "not_utf8"),
        (pdf_of("a", encrypted=True), MediaType.PDF, "encrypted"),
        (pdf_of(""), MediaType.PDF, "no_text"),
        (pdf_of(*"abcdefghijk"), MediaType.PDF, "too_long"),
        (b"not a zip", MediaType.DOCX, "malformed"),
        (b"x" * (DOCUMENTS.max_characters + 1), MediaType.TEXT, "too_long"),
        (b"", MediaType.TEXT, "no_text"),
        (b"\x00\x01", MediaType.TEXT, "no_text"),
    ):
        told = refused(await put(house, base, raw, media_type=media_type), 422, "document_unreadable")
        assert told["reason"] == reason
        assert told["detail"]
    assert await state(house, base) == before


async def test_what_is_no_upload_is_refused_before_it_is_read(house: House) -> None:
    base = await made(house)
    path = f"/v1/knowledge-bases/{base}/documents"
    instructor = house.here.instructor
    for media_type in ("image/png", "application/msword", "", "text/plain; charset=gbk"):
        refused(await put(house, base, b"x", media_type=media_type), 415, "unsupported_media_type")
    compressed = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
    answer = await instructor.post(path, content=b"x", params={"name": "a"}, headers=compressed)
    refused(answer, 415, "unsupported_media_type")
    told = refused(await put(house, base, b"x" * (DOCUMENTS.max_bytes + 1)), 413, "body_too_large")
    assert told["limit_bytes"] == DOCUMENTS.max_bytes
    for name in (None, "a\nb", "x" * 201, " "):
        told = refused(await put(house, base, b"x", name=name), 422, "invalid_request")
        assert [fault["field"] for fault in told["errors"]] == ["name"]
    told = refused(
        await instructor.post(path, json={"name": "a", "text": "b"}, params={"name": "c"}), 422, "invalid_request"
    )
    assert told["errors"][0]["field"] == "name"
    refused(await instructor.post(path, json={"name": "a"}), 422, "invalid_request")
    refused(await instructor.post(f"{path}?names=a", content=b"x", headers=compressed), 422, "invalid_request")
    assert await state(house, base) == (1, 0, 0)


async def test_a_base_takes_so_many_chunks(house: House) -> None:
    base = await made(house)
    sections = "\n\n".join(f"# {number}\n\nline" for number in range(DOCUMENTS.base_chunks + 1))
    told = refused(await put(house, base, sections.encode(), media_type="text/markdown"), 409, "knowledge_base_full")
    assert (told["chunks"], told["limit"]) == (DOCUMENTS.base_chunks + 1, DOCUMENTS.base_chunks)
    assert await state(house, base) == (1, 0, 0)


async def test_a_scenario_names_a_base_and_keeps_its_guidance(house: House) -> None:
    base = await made(house, guidance="Quote prices exactly.")
    answer = await house.here.instructor.post("/v1/scenarios", json={**SCENARIO, "knowledge_base_id": base})
    assert answer.status_code == 201, answer.text
    told = answer.json()
    assert (told["knowledge_base_id"], told["guidance"]) == (base, "Quote prices exactly.")
    await house.here.instructor.delete(f"/v1/knowledge-bases/{base}")
    kept = (await house.here.instructor.get(f"/v1/scenarios/{told['id']}")).json()
    assert kept == told
    versions = f"/v1/scenarios/{told['id']}/versions"
    refused(
        await house.here.instructor.post(versions, json={**SCENARIO, "knowledge_base_id": base}), 422, "invalid_request"
    )
    without = (await house.here.instructor.post(versions, json=SCENARIO)).json()
    assert (without["knowledge_base_id"], without["guidance"]) == (None, "")


async def test_a_scenario_cannot_name_what_is_foreign_missing_or_no_id(house: House) -> None:
    theirs = await made(house, people=house.elsewhere)
    told = []
    for base in (theirs, str(house.here.tenant), "x", theirs.replace("-", "")):
        answer = await house.here.instructor.post("/v1/scenarios", json={**SCENARIO, "knowledge_base_id": base})
        told.append(refused(answer, 422, "invalid_request")["errors"])
    assert told == [[{"field": "knowledge_base_id", "detail": "there is no such knowledge base"}]] * 4


async def test_no_more_uploads_are_taken_at_once_than_fit_into_memory(house: House) -> None:
    base = await made(house)
    let_go = asyncio.Event()
    begun = 0

    async def slowly() -> AsyncIterator[bytes]:
        nonlocal begun
        begun += 1
        yield b"A pump "
        await let_go.wait()
        yield b"costs 48 yuan."

    async def sent(number: int) -> httpx.Response:
        return await house.here.instructor.post(
            f"/v1/knowledge-bases/{base}/documents",
            content=slowly(),
            params={"name": f"prices {number}"},
            headers={"Content-Type": "text/plain"},
        )

    async with asyncio.TaskGroup() as group:
        sending = [group.create_task(sent(number)) for number in range(DOCUMENTS.in_hand)]
        await eventually(lambda: begun == DOCUMENTS.in_hand)
        answer = await put(house, base, TEXT.encode(), name="one more")
        assert refused(answer, 503, "too_many_uploads")["limit"] == DOCUMENTS.in_hand
        assert int(answer.headers["retry-after"]) > 1
        let_go.set()
    assert [each.result().status_code for each in sending] == [201] * DOCUMENTS.in_hand
    assert (await put(house, base, TEXT.encode(), name="one more")).status_code == 201


async def in_force(house: House, *phrases: dict[str, str]) -> None:
    rules = {"name": "rules", "live": True, "phrases": list(phrases)}
    answer = await house.here.instructor.post("/v1/moderation/lists", json=rules)
    assert answer.status_code == 201, answer.text


async def test_a_document_that_moderation_stops_is_refused_with_its_place_and_without_its_words(house: House) -> None:
    await in_force(house, {"id": "r7", "text": "secret word"}, {"text": "hush", "action": "flag"})
    base = await made(house)
    before = await state(house, base)
    hostile = f"# Prices\n\n{TEXT}\n\n# Terms\n\nThe s.e.c.r.e.t w\u043erd opens it."
    answer = await put(house, base, hostile.encode(), media_type="text/markdown")
    told = refused(answer, 422, "document_blocked")
    assert (told["chunk"], told["reason"]) == (2, "banned_phrase")
    assert told["findings"] == [{"source": "phrase", "rule": "r7", "list": "rules"}]
    assert "opens" not in answer.text
    assert await state(house, base) == before
    flagged = await put(house, base, b"# Prices\n\nhush, 48\n\n# Terms\n\nThirty days.", media_type="text/markdown")
    assert (flagged.json()["chunk_count"], flagged.json()["flagged_chunks"]) == (2, 1)
    (listed,) = (await house.here.instructor.get(f"/v1/knowledge-bases/{base}/documents")).json()["items"]
    assert listed["flagged_chunks"] == 1
