"""Load goes to this machine, unless somebody named another one twice."""

import json
from pathlib import Path

import pytest

from loadtests.domain.drill import Affinity, Wire
from loadtests.target import Asked, Replica, TargetRefused, require_local, target

READY = {
    "base_url": "http://127.0.0.1:8080/",
    "keys": {"trainees": ["dy_a_1", "dy_b_2"], "operator": "dy_o", "service": "dy_s"},
    "scenarios": [{"id": "s-1", "locale": "en"}],
    "replicas": [{"id": "replica-1", "url": "http://127.0.0.1:9001", "pid": 7, "kind": "sim"}],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "ready.json").write_text(json.dumps(READY))
    return tmp_path


def keys(folder: Path, text: str) -> Path:
    file = folder / "keys.txt"
    file.write_text(text)
    return file


def test_a_running_stack_names_everything(data: Path) -> None:
    aim = target(Asked(data=data))
    assert aim.base_urls == ("http://127.0.0.1:8080",)
    assert (aim.keys, aim.scenario) == (("dy_a_1", "dy_b_2"), "s-1")
    assert (aim.operator_key, aim.service_key) == ("dy_o", "dy_s")
    assert aim.replicas == (Replica("replica-1", "http://127.0.0.1:9001"),)
    assert aim.ready_file == data / "ready.json"


def test_what_is_named_goes_before_what_runs_and_gets_no_key_of_it(data: Path) -> None:
    file = keys(data, "# trainees\n\ndy_c_3  # Kim\n")
    aim = target(Asked(data=data, base_urls=("http://localhost:9/",), keys_file=file, scenario="s-2"))
    assert (aim.base_url, aim.keys, aim.scenario) == ("http://localhost:9", ("dy_c_3",), "s-2")
    assert (aim.operator_key, aim.service_key, aim.ready_file, aim.replicas) == (None, None, None, ())


def test_the_address_of_the_stack_itself_is_the_stack(data: Path) -> None:
    assert target(Asked(data=data, base_urls=("http://127.0.0.1:8080/",))).operator_key == "dy_o"


def test_no_key_shows_in_what_is_printed(data: Path) -> None:
    told = repr(target(Asked(data=data)))
    assert not [key for key in ("dy_a_1", "dy_b_2", "dy_o'", "dy_s'") if key in told]


def test_replicas_are_asked_past_the_gateway_where_nobody_keeps_affinity(data: Path) -> None:
    aim = target(Asked(data=data, wire=Wire.CHAT, affinity=Affinity.NONE))
    assert aim.base_urls == ("http://127.0.0.1:9001",)
    assert aim.service_key is None


def test_replicas_nobody_knows_cannot_be_chosen_among(data: Path) -> None:
    (data / "ready.json").write_text(json.dumps({**READY, "replicas": []}))
    with pytest.raises(TargetRefused, match="give their addresses"):
        target(Asked(data=data, wire=Wire.CHAT, affinity=Affinity.NONE))


def test_openai_addresses_are_taken_as_clients_write_them(tmp_path: Path) -> None:
    urls = ("http://127.0.0.1:8001/v1", "http://[::1]:8002/")
    aim = target(Asked(data=tmp_path, base_urls=urls, wire=Wire.CHAT, affinity=Affinity.NONE, model="m"))
    assert aim.base_urls == ("http://127.0.0.1:8001", "http://[::1]:8002")
    assert [each.id for each in aim.replicas] == ["127.0.0.1:8001", "[::1]:8002"]
    assert aim.model == "m"


def test_an_operators_key_of_another_server_is_for_its_fleet(tmp_path: Path) -> None:
    file = keys(tmp_path, "dy_c_3\n")
    asked = Asked(data=tmp_path, base_urls=("http://127.0.0.1:9",), keys_file=file, operator_key="dy_o_9")
    assert target(asked).operator_key == "dy_o_9"
    assert "dy_o_9" not in repr(asked)


def test_several_addresses_need_somebody_who_chooses(tmp_path: Path) -> None:
    urls = ("http://127.0.0.1:8001", "http://127.0.0.1:8002")
    with pytest.raises(TargetRefused, match="affinity none"):
        target(Asked(data=tmp_path, base_urls=urls, wire=Wire.CHAT))


def test_trainees_need_keys(tmp_path: Path) -> None:
    with pytest.raises(TargetRefused, match="--keys-file"):
        target(Asked(data=tmp_path, base_urls=("http://127.0.0.1:1",)))
    with pytest.raises(TargetRefused, match="cannot be read"):
        target(Asked(data=tmp_path, base_urls=("http://127.0.0.1:1",), keys_file=tmp_path / "none"))


def test_a_stack_without_keys_says_so(data: Path) -> None:
    (data / "ready.json").write_text(json.dumps({"base_url": "http://127.0.0.1:1"}))
    with pytest.raises(TargetRefused, match="--keys-file"):
        target(Asked(data=data))


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"keys": [], "scenarios": [1]}'])
def test_without_a_stack_it_says_what_to_do(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "ready.json").write_text(content)
    with pytest.raises(TargetRefused, match="drillyard up"):
        target(Asked(data=tmp_path))


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost", "http://127.9.9.9", "http://LocalHost:8/v1"]
)
def test_this_machine_may_be_loaded(url: str) -> None:
    require_local(url, named=())


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1",
        "https://drills.example",
        "http://127.0.0.1.example",
        "http://localhost.example",
        "http://localhost.",
        "http://0.0.0.0:80",
        "http://[fe80::1]",
        "http://127.1",
        "http://2130706433",
        "nonsense",
        "",
        "http://",
        "ftp://127.0.0.1",
        "http://localhost@evil.example",
        "http://evil.example@localhost",
        "http://localhost\\@evil.example",
        "http://evil.example\\.localhost",
        "http://localhost#@evil.example",
        "http://localhost?@evil.example",
        "http://localhost:80:90",
        "http://localhost:x",
        "http://[::1",
        "http://[::1%25eth0]:1",
        "http://ｌocalhost.example",
    ],
)
def test_another_machine_only_by_its_name(url: str) -> None:
    with pytest.raises(TargetRefused):
        require_local(url, named=("elsewhere", "localhos", ""))


def test_another_machine_that_was_named_on_purpose() -> None:
    require_local("https://Drills.example:9", named=("other", "drills.EXAMPLE"))


def test_each_of_several_addresses_is_named(tmp_path: Path) -> None:
    urls = ("https://a.example", "https://b.example")
    asked = Asked(
        data=tmp_path, base_urls=urls, wire=Wire.CHAT, affinity=Affinity.NONE, not_local=("a.example",), model="m"
    )
    with pytest.raises(TargetRefused, match=r"b\.example is not this machine"):
        target(asked)


def test_a_ready_file_cannot_aim_elsewhere_either(data: Path) -> None:
    (data / "ready.json").write_text(json.dumps({**READY, "base_url": "http://drills.example"}))
    with pytest.raises(TargetRefused, match=r"drills\.example"):
        target(Asked(data=data))


@pytest.mark.parametrize("affinity", Affinity)
def test_its_replicas_cannot_either_where_they_are_asked_past_the_gateway(data: Path, affinity: Affinity) -> None:
    far = [*READY["replicas"], {"id": "replica-2", "url": "http://gpu.example:8000"}]
    (data / "ready.json").write_text(json.dumps({**READY, "replicas": far}))
    with pytest.raises(TargetRefused, match=r"gpu\.example is not this machine"):
        target(Asked(data=data, wire=Wire.CHAT, affinity=affinity))
    named = target(Asked(data=data, wire=Wire.CHAT, affinity=affinity, not_local=("gpu.example",)))
    assert [each.url for each in named.replicas][1:] == ["http://gpu.example:8000"]
