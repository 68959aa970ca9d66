"""What a target says of itself before it is loaded: its scenarios, its model, and what its replicas are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from loadtests.conduct.http_line import HttpLine, Unanswered
from loadtests.conduct.order import DrillFailed
from loadtests.domain.drill import Drill, Shape, Wire
from loadtests.target import Replica, Target, TargetRefused, require_local

_PATIENCE_S = 10.0
_AT_MOST_PAGES = 50
_SIZED = frozenset({Shape.LONG_PROMPT, Shape.LONG_OUTPUT, Shape.KV, Shape.TRACE})
"""Their prompts have the lengths that the drill says, so nothing is put before them."""


@dataclass(frozen=True, slots=True)
class Scenario:
    id: str
    title: str
    locale: str
    max_turns: int | None
    words: str = ""
    """Persona, instructions and scenes, for whoever may see them."""


def asked_target(target: Target, *, drill: Drill, most_turns: int) -> Target:
    """The target with its scenario found by id, locale or title, or its model; raises `DrillFailed`.

    `most_turns` are those of the longest session: a scenario that ends sooner would end the drill.
    """
    with HttpLine(target.base_url, timeout_s=_PATIENCE_S) as line:
        try:
            if drill.wire is Wire.CHAT:
                words = target.system or ("" if drill.shape in _SIZED else _words_of_scenario(target))
                return replace(target, model=target.model or _model(line, target.service_key), system=words)
            found = chosen(_scenarios(line, target.keys[0]), target.scenario)
        except Unanswered as error:
            raise DrillFailed(f"{target.base_url} does not answer as it should: {error}") from None
    if found.max_turns is not None and most_turns > found.max_turns:
        raise DrillFailed(f"{found.title} ends after {found.max_turns} turns, and a session is to have {most_turns}")
    return replace(target, scenario=found.id)


def with_fleet(target: Target) -> Target:
    """The target with the replicas that its server tells an operator, where nothing on this machine names them. Those
    that may not be asked are left out: the addresses of a fleet come from a server."""
    if target.operator_key is None or target.ready_file is not None:
        return target
    try:
        with HttpLine(target.base_url, timeout_s=_PATIENCE_S) as line:
            told = line.get_object("/v1/fleet", key=target.operator_key).get("replicas")
    except Unanswered:  # it need not be a Drillyard
        return target
    seen = [each for each in (told if isinstance(told, list) else ()) if isinstance(each, dict)]
    fleet = (Replica(str(each.get("id")), str(each.get("url", "")).rstrip("/")) for each in seen)
    return replace(target, replicas=(*target.replicas, *(each for each in fleet if _may_be_asked(each, target))))


def speed_up_of(target: Target) -> float | None:
    """How much faster the time of its simulated replicas passes; None where they do not say or are real."""
    return _same(((_state(each, target) or {}).get("speed_up") for each in target.replicas), "speeds of time")


def window_of(target: Target) -> int | None:
    """In tokens; None where replicas do not say."""
    found = _same((_window(each, target) for each in target.replicas), "windows")
    return None if found is None else int(found)


def replica_facts(target: Target) -> list[dict[str, object]]:
    """Of each replica: its version, and of a simulated one its profile. What does not answer is left out."""
    return [_facts(each, target) for each in target.replicas]


def silent(facts: Iterable[Mapping[str, object]]) -> tuple[str, ...]:
    """The replicas of which nothing but the name is known."""
    return tuple(str(each["id"]) for each in facts if len(each) == 1)


def chosen(scenarios: Sequence[Scenario], asked: str) -> Scenario:
    """The scenario of an id, a locale, a language or a part of the title; raises `DrillFailed` with what there is."""
    if not scenarios:
        raise DrillFailed("the server has no scenario: write one with POST /v1/scenarios")
    if not asked and len(scenarios) == 1:
        return scenarios[0]
    wanted = asked.casefold()
    for matches in _WAYS if asked else ():
        found = [each for each in scenarios if matches(each, wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise DrillFailed(f"{asked!r} names several scenarios: give one id of {_listed(found)}")
    what = f"no scenario is named {asked!r}" if asked else "there are several scenarios"
    raise DrillFailed(f"{what}: give --scenario, one of {_listed(scenarios)}")


_WAYS = (
    lambda each, wanted: each.id.casefold() == wanted,
    lambda each, wanted: each.locale.casefold() == wanted,
    lambda each, wanted: each.locale.casefold().partition("-")[0] == wanted,
    lambda each, wanted: each.title.casefold() == wanted,
    lambda each, wanted: wanted in each.title.casefold(),
)


def _listed(scenarios: Sequence[Scenario]) -> str:
    return ", ".join(f"{each.id} ({each.title}, {each.locale})" for each in scenarios[:10])


def _scenarios(line: HttpLine, key: str) -> list[Scenario]:
    found: list[Scenario] = []
    cursor = ""
    for _ in range(_AT_MOST_PAGES):
        page = line.get_object(f"/v1/scenarios?limit=100{cursor}", key=key)
        items = page.get("items")
        found += [_scenario(each) for each in (items if isinstance(items, list) else ()) if isinstance(each, dict)]
        following = page.get("next_cursor")
        if not isinstance(following, str) or not following:
            break
        cursor = f"&cursor={following}"
    return found


def _words_of_scenario(target: Target) -> str:
    """What chats of our own stack begin with, so that their prompts are as long as those of its sessions."""
    if target.instructor_key is None:
        return ""
    with HttpLine(target.gateway_url, timeout_s=_PATIENCE_S) as line:
        return chosen(_scenarios(line, target.instructor_key), target.scenario).words


def _scenario(told: Mapping[str, object]) -> Scenario:
    limits = told.get("limits")
    most = limits.get("max_turns") if isinstance(limits, dict) else None
    return Scenario(
        id=str(told.get("id", "")),
        title=str(told.get("title", "")),
        locale=str(told.get("locale", "")),
        max_turns=most if isinstance(most, int) else None,
        words=_words(told),
    )


def _words(told: Mapping[str, object]) -> str:
    scenes = told.get("scenes")
    scripts = [each.get("script") for each in (scenes if isinstance(scenes, list) else ()) if isinstance(each, dict)]
    parts = (told.get("persona"), told.get("instructions"), *scripts)
    return "\n\n".join(part for part in parts if isinstance(part, str) and part)


def _model(line: HttpLine, key: str | None) -> str:
    data = line.get_object("/v1/models", key=key).get("data")
    first = data[0] if isinstance(data, list) and data else {}
    name = first.get("id") if isinstance(first, dict) else None
    if not isinstance(name, str):
        raise Unanswered("/v1/models names no model; give --model")
    return name


def _same(told: Iterable[object], what: str) -> float | None:
    """What all replicas say that say something; raises `DrillFailed` where they do not agree."""
    found = sorted({float(each) for each in told if isinstance(each, int | float)})
    if len(found) > 1:
        raise DrillFailed(f"the replicas have several {what}: {', '.join(f'{each:g}' for each in found)}")
    return found[0] if found else None


def _window(replica: Replica, target: Target) -> object:
    data = (_object(replica, target, "/v1/models") or {}).get("data")
    first = data[0] if isinstance(data, list) and data else None
    return first.get("max_model_len") if isinstance(first, dict) else None


def _facts(replica: Replica, target: Target) -> dict[str, object]:
    found: dict[str, object] = {"id": replica.id}
    if (window := _window(replica, target)) is not None:
        found["window_tokens"] = window
    version = _object(replica, target, "/version")
    if version is not None:
        found["version"] = version.get("version")
    state = _state(replica, target)
    return found | {name: state.get(name) for name in ("profile", "provenance", "speed_up", "seed") if state}


def _state(replica: Replica, target: Target) -> Mapping[str, object] | None:
    return _object(replica, target, "/sim/state")


def _may_be_asked(replica: Replica, target: Target) -> bool:
    try:
        require_local(replica.url, named=target.named)
    except TargetRefused:
        return False
    return True


def _object(replica: Replica, target: Target, path: str) -> Mapping[str, object] | None:
    if not _may_be_asked(replica, target):
        return None
    try:
        with HttpLine(replica.url) as line:
            return line.get_object(path)
    except Unanswered:
        return None
