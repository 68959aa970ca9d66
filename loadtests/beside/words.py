"""The scenario of the class, and the words with which its sessions begin, for clients who keep their own history."""

from collections.abc import Mapping
from types import TracebackType
from typing import Self

import httpx

_PATIENCE_S = 20.0
_LANGUAGE = "en"
_TITLE = "The same class through several routers"
_WRITTEN = ("locale", "persona", "instructions", "opening", "scenes", "rubric")


class Words:
    """Asked of a running stack. Use as a context manager."""

    def __init__(self, ready: Mapping[str, object]) -> None:
        keys = ready["keys"]
        assert isinstance(keys, dict)  # noqa: S101
        self._trainee, self._instructor = _bearer(keys["trainees"][0]), _bearer(keys["instructor"])
        self._client = httpx.Client(base_url=str(ready["base_url"]), timeout=_PATIENCE_S, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.close()

    def scenario(self, *, reply_tokens: int) -> str:
        """The English sample once more, with replies of this length; its id."""
        listed = self._client.get("/v1/scenarios", headers=self._instructor).raise_for_status().json()["items"]
        sample = next(each for each in listed if each["locale"].startswith(_LANGUAGE))
        limits = sample["limits"] | {"max_reply_tokens": reply_tokens}
        body = {name: sample[name] for name in _WRITTEN} | {"title": _TITLE, "limits": limits}
        made = self._client.post("/v1/scenarios", json=body, headers=self._instructor).raise_for_status()
        return str(made.json()["id"])

    def beginning(self, scenario: str) -> str:
        """All messages that stand before the first turn, as one text; of a session that is closed again."""
        said = {"scenario_id": scenario}
        made = self._client.post("/v1/sessions", json=said, headers=self._trainee).raise_for_status()
        session = f"/v1/sessions/{made.json()['id']}"
        context = self._client.get(f"{session}/context", headers=self._instructor).raise_for_status().json()
        self._client.post(f"{session}/close", headers=self._trainee).raise_for_status()
        return "\n\n".join(each["content"] for each in context["messages"])


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}
