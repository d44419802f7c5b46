"""A run that is killed at any moment is repaired by the next one: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from tests.python.faults.java import java_of
from tests.python.harness.processes import MARTS, Home, all_samples, take_shares

pytestmark = pytest.mark.long

#: Repeat a run with the seed that it printed.
SEED = int(os.environ.get("FAULTS_SEED") or random.SystemRandom().randrange(2**32))
KILLS = int(os.environ.get("FAULTS_KILLS") or 30)
#: Before this, in seconds, a run reads its settings.
SHORTEST = 3


def _kill_group(process: Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def _kill_python(process: Popen[bytes]) -> None:
    process.kill()


def _kill_java(process: Popen[bytes]) -> None:
    java = java_of(process)
    if java is not None:
        java.kill()


VICTIMS: dict[str, Callable[[Popen[bytes]], None]] = {
    "all": _kill_group,
    "Python": _kill_python,
    "Java": _kill_java,
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "work").mkdir()
    return Home(tmp_path / "home", tmp_path / "work")


def test_killed_runs_leave_what_undisturbed_ones_do(home: Home) -> None:
    chance = random.Random(SEED)
    print(f"{KILLS} kills, FAULTS_SEED={SEED}")
    left = all_samples()
    # How long a run takes, of which every moment may be the one of a kill.
    home.land(take_shares(left, KILLS + 1))
    started = time.monotonic()
    home.run()
    longest = time.monotonic() - started
    killed = 0
    for kill in range(KILLS):
        home.land(take_shares(left, KILLS - kill))
        run = home.dbt("run")
        victim, delay = chance.choice(list(VICTIMS)), chance.uniform(SHORTEST, longest)
        time.sleep(delay)
        was_running = run.poll() is None
        if was_running:
            VICTIMS[victim](run)
        run.wait()
        killed += was_running
        print(f"{kill + 1}: {victim} after {delay:.1f} s{'' if was_running else ', too late'}")
    assert killed > KILLS / 2

    home.run()
    repaired = home.content(*MARTS)
    home.finish(home.dbt("run", "--full-refresh"))
    undisturbed = home.content(*MARTS)

    assert repaired["marts.change_events"]
    for mart in MARTS:
        assert repaired[mart] == undisturbed[mart], mart


def test_a_killed_landing_leaves_all_or_nothing(home: Home, tmp_path: Path) -> None:
    """Landing is one commit, however large its files are."""
    chance = random.Random(SEED)
    message = '{"topic":"shop","partition":0,"offset":%d,"value":"%s"}\n'
    path = tmp_path / "messages.jsonl"
    count = 20_000
    with path.open("w") as file:
        file.writelines(message % (offset, "x" * 10_000) for offset in range(count))
    # The table is there, however soon a landing is killed.
    home.land({"canal_json": all_samples()["canal_json"][:1]})
    for _ in range(3):
        landing = home.land_files("canal_json", path)
        time.sleep(chance.uniform(5, 12))
        _kill_group(landing)
        landing.wait()
        [commits] = home.content("landing.canal_json.snapshots").values()
        assert commits
        for commit in commits:
            assert any(f'"added-records":"{added}"' in commit for added in (1, count)), commit
