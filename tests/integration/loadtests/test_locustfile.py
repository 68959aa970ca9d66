"""Locust plays drills against the real gateway and simulated replicas, ends by itself, and leaves a row of all it asked
for."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from loadtests.conduct.locust_process import LocustProcess
from loadtests.domain.drill import Crowd, Drill, Shape, Wire
from loadtests.domain.figures import Figures
from loadtests.domain.figuring import figures_of
from loadtests.domain.part import Act
from loadtests.domain.rows import Kind, Row
from loadtests.histograms import read_histograms
from loadtests.run_files import read_lag, read_object, read_rows, write_object
from loadtests.run_folder import RunFolder
from loadtests.target import Target
from loadtests.trace_files import parts_of
from tests.support.gateway_process import World, world
from tests.support.postgres_fixture import PostgresTemplate

ROOT = Path(__file__).parents[3]
LEAD_S = 2.5
CROWD = Crowd(leavers=0.1, reconnecting=0.3, impatient=0.3, hostile=0.1)
CLASS = Drill(trainees=10, turns=(3, 4), think_s=1, allowance_s=2, lobby_s=2, reaction_s=0.5, speed_up=4, crowd=CROWD)
CHAT = replace(CLASS, wire=Wire.CHAT, trainees=4, history=2, reply_tokens=12)
LONG = replace(CHAT, shape=Shape.LONG_PROMPT, turns=(1, 1), prompt_shares=(0.5, 1.01), crowd=Crowd())
ENDLESS = replace(CLASS, turns=(200, 200), trainees=4, crowd=Crowd())
BESIDE = {Act.CANCEL, Act.TWICE, Act.BESIDE}
"""Notes of rows that stand beside those of the timetable: whether each comes in time is left to the machine."""
_LISTENS, _LOOPBACK = "0A", "0100007F"
REPLY = " ".join(f"word{number}" for number in range(60))


@dataclass(frozen=True, slots=True)
class Run:
    drill: Drill
    folder: RunFolder
    exit_code: int | None
    listens_at: frozenset[str] = frozenset()
    """Addresses as /proc/net/tcp has them, of the process that directs the workers."""

    @property
    def rows(self) -> list[Row]:
        return read_rows(self.folder)

    @property
    def figures(self) -> Figures:
        return figures_of(self.rows, drill=self.drill, lag=read_lag(self.folder))

    def of(self, *kinds: Kind) -> list[Row]:
        return [row for row in self.rows if row.kind in kinds]


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, postgres_template: PostgresTemplate) -> Iterator[World]:
    with (
        postgres_template.copy() as url,
        world(tmp_path_factory.mktemp("world"), url, simulators=2, speed_up=10) as made,
    ):
        for replica in made.simulators.values():
            replica.script(REPLY)
        yield made


@pytest.fixture(scope="module")
def runs(installation: World, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Run]:
    """The same class by one worker and by two, chats, and prompts of certain lengths, all at one time."""
    replica = next(iter(installation.simulators.values()))
    window = int(replica.client.get("/v1/models").json()["data"][0]["max_model_len"])
    gateway, direct = own_target(installation), Target(base_urls=(replica.url,))
    long = replace(LONG, window_tokens=window)
    wanted = {
        "one": (CLASS, gateway, 1),
        "two": (CLASS, gateway, 2),
        "chat": (CHAT, direct, 1),
        "long": (long, direct, 1),
        "killed": (ENDLESS, gateway, 2),
    }
    with ExitStack() as stack:
        started = {
            name: (drill, *stack.enter_context(playing(tmp_path_factory.mktemp(name), drill, target, workers=workers)))
            for name, (drill, target, workers) in wanted.items()
        }
        listens_at = kill_a_worker(*started["killed"][1:])
        played = {name: Run(drill, folder, ended(locust)) for name, (drill, folder, locust) in started.items()}
        return {**played, "killed": replace(played["killed"], listens_at=listens_at)}


def own_target(installation: World) -> Target:
    keys, scenario = installation.seed.keys, installation.seed.scenarios[0].id
    return Target(base_urls=(installation.gateway.url,), keys=tuple(keys.trainees), scenario=scenario)


@contextmanager
def playing(path: Path, drill: Drill, target: Target, *, workers: int) -> Iterator[tuple[RunFolder, LocustProcess]]:
    folder = RunFolder(path)
    write_object(folder.drill, drill.as_json())
    bell_at = time.time() + LEAD_S + drill.lobby_s / drill.speed_up
    with LocustProcess(folder, target, bell_at=bell_at, workers=workers) as locust:
        yield folder, locust


def ended(locust: LocustProcess, *, within_s: float = 40.0) -> int:
    deadline = time.monotonic() + within_s
    while (code := locust.exit_code) is None:
        assert time.monotonic() < deadline, f"it did not end: {locust.last_words()}"
        time.sleep(0.02)
    return code


def kill_a_worker(folder: RunFolder, locust: LocustProcess) -> frozenset[str]:
    """As soon as both have taken a turn; where they met."""
    deadline = time.monotonic() + 30
    while len({row.worker for row in read_rows(folder) if row.kind is Kind.TURN}) < 2:
        assert locust.exit_code is None, locust.last_words()
        assert time.monotonic() < deadline, locust.last_words()
        time.sleep(0.05)
    met_at = listening(locust.pid)
    children = Path(f"/proc/{locust.pid}/task/{locust.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    return met_at


def listening(pid: int) -> frozenset[str]:
    """Read in the table of this process, which stands in the same network and does not end meanwhile."""
    sockets = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            sockets.add(os.readlink(each))
    tables = (Path(f"/proc/self/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6"))
    rows = [line.split() for table in tables for line in table]
    return frozenset(row[1] for row in rows if row[3] == _LISTENS and f"socket:[{row[9]}]" in sockets)


def by_hand(installation: World, tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    ready = {
        "base_url": installation.gateway.url,
        "keys": {"trainees": list(installation.seed.keys.trainees)},
        "scenarios": [{"id": installation.seed.scenarios[0].id}],
    }
    (tmp_path / "ready.json").write_text(json.dumps(ready))
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "locust",
            "-f",
            "loadtests/locustfile.py",
            "--headless",
            "--data",
            str(tmp_path),
            *words,
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )


@pytest.mark.parametrize("name", ["one", "two", "chat", "long"])
def test_a_drill_comes_to_its_end_and_nothing_of_the_client_failed(runs: Mapping[str, Run], name: str) -> None:
    run = runs[name]
    assert run.exit_code == 0, (run.folder.path / "locust.log").read_text()[-2000:]
    assert all(read_object(file) == {} for file in run.folder.path.glob("trouble-*.json"))
    assert read_lag(run.folder)
    assert [row for row in run.rows if row.failure is not None] == []


@pytest.mark.parametrize("name", ["one", "two", "chat", "long"])
def test_every_place_of_the_timetable_has_exactly_one_row(runs: Mapping[str, Run], name: str) -> None:
    run = runs[name]
    rows = [row for row in run.of(Kind.TURN, Kind.HOSTILE) if row.note not in BESIDE]
    planned = [
        (part.trainee, turn, ask.at_s)
        for part in parts_of(run.drill)
        for visit in part.visits
        for turn, ask in enumerate(visit.asks, start=1)
    ]
    assert sorted((row.trainee, row.turn, row.planned_s) for row in rows) == sorted(planned)
    assert all(row.started_s >= (row.free_s or 0.0) >= row.planned_s - 1e-9 for row in rows)


def test_two_workers_share_the_trainees_and_play_the_same_as_one(runs: Mapping[str, Run]) -> None:
    one, two = runs["one"], runs["two"]
    assert {row.worker for row in one.rows} == {0}
    assert {row.worker for row in two.rows} == {0, 1}
    assert all(len({row.worker for row in two.rows if row.trainee == trainee}) == 1 for trainee in range(10))
    places = [
        Counter((row.kind, row.trainee, row.turn) for row in run.rows if row.note not in BESIDE) for run in (one, two)
    ]
    assert places[0] == places[1]


@pytest.mark.parametrize("name", ["one", "two"])
def test_what_was_heard_is_what_was_stored_also_where_streams_were_cut(runs: Mapping[str, Run], name: str) -> None:
    run, asks = runs[name], [ask for part in parts_of(CLASS) for visit in part.visits for ask in visit.asks]
    figures = run.figures
    assert (figures.lost_turns, figures.doubled_turns, figures.altered_turns, figures.let_in) == (0, 0, 0, 0)
    assert figures.audited == 9
    assert Counter(ask.act for ask in asks)[Act.CUT] == sum("cut" in row.note for row in run.of(Kind.TURN)) > 0
    assert len([row for row in run.of(Kind.RESUME) if not row.note]) == Counter(ask.act for ask in asks)[Act.CUT]
    whole = [row for row in run.of(Kind.TURN) if row.finish != "cancelled"]
    assert {row.completion_tokens for row in whole} == {whole[0].completion_tokens}
    assert len({row.text_digest for row in whole}) == 1
    assert all(row.first_s and row.last_s and row.started_s < row.first_s < row.last_s <= row.ended_s for row in whole)


def test_the_impatient_are_answered_as_they_should_be(runs: Mapping[str, Run]) -> None:
    run = runs["one"]
    assert {row.status for row in run.of(Kind.CANCEL)} == {202}
    assert {row.status for row in run.of(Kind.HOSTILE) if row.note == Act.BESIDE} <= {409}
    assert {row.status for row in run.of(Kind.RESUME) if row.note == Act.TWICE} == {200}
    assert [row for row in run.of(Kind.TURN) if row.was_cancelled]


def test_each_worker_leaves_its_histograms(runs: Mapping[str, Run]) -> None:
    run = runs["two"]
    counts = [read_histograms(run.folder.histograms_of(worker)).count("ttft") for worker in (0, 1)]
    assert sum(counts) == run.figures.turns
    assert all(counts)


def test_a_chat_carries_its_history_along(runs: Mapping[str, Run]) -> None:
    turns = sorted(runs["chat"].of(Kind.TURN), key=lambda row: (row.trainee, row.turn))
    whole = [row for row in turns if not row.was_cancelled]
    assert {row.finish for row in whole} == {"length"}
    assert {row.completion_tokens for row in whole} == {12}
    first, second = (next(row for row in whole if row.turn == turn).prompt_tokens for turn in (1, 2))
    assert second > first


def test_prompts_have_the_share_of_the_window_that_was_wanted_and_too_long_ones_are_refused(
    runs: Mapping[str, Run],
) -> None:
    run = runs["long"]
    (fitting,), (refused,) = run.of(Kind.TURN), run.of(Kind.HOSTILE)
    assert fitting.prompt_tokens == round(0.5 * run.drill.window_tokens)
    assert (refused.status, refused.failure) == (400, None)


def test_a_worker_that_is_killed_ends_the_run_which_then_is_no_whole_one(runs: Mapping[str, Run]) -> None:
    run = runs["killed"]
    assert run.exit_code == 1
    trouble = read_object(run.folder.path / "trouble-director.json")
    assert trouble["lost_worker"] == 1
    assert trouble["unplayed"]
    assert len(list(run.folder.path.glob("trouble-[01].json"))) == 1


def test_by_hand_the_exit_code_is_the_verdict(installation: World, tmp_path: Path) -> None:
    words = ("--users", "3", "--turns", "2", "--think", "0.1", "--allowance", "0.5")
    done = by_hand(installation, tmp_path, *words, "--rows", str(tmp_path / "good"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 turns, 0 failed" in done.stdout
    assert len([row for row in read_rows(RunFolder(tmp_path / "good")) if row.kind is Kind.TURN]) == 6


def test_by_hand_a_run_without_a_good_turn_fails(installation: World, tmp_path: Path) -> None:
    words = ("--users", "1", "--scenario", "none", "--rows", str(tmp_path / "bad"))
    done = by_hand(installation, tmp_path, *words)
    assert done.returncode == 1
    assert "1 turns, 1 failed" in done.stdout


def test_a_foreign_host_is_refused_before_anything_is_sent(installation: World, tmp_path: Path) -> None:
    done = by_hand(installation, tmp_path, "--users", "1", "--host", "http://192.0.2.1")
    assert done.returncode == 2
    assert "192.0.2.1 is not this machine" in done.stderr


def test_workers_meet_on_loopback_alone(runs: Mapping[str, Run]) -> None:
    (at,) = runs["killed"].listens_at
    assert at.startswith(f"{_LOOPBACK}:")
