"""An hour of `run --every 1m` on 200 tables: a killed run, a broker that goes away, upkeep.

`SOAK_MINUTES=6` is a short one; `SOAK_SEED` repeats the traffic of another one;
`SOAK_LAG_MINUTES` is for a machine with other work.  `-s` shows the figures as they come.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from filelock import FileLock, Timeout
from pyspark.sql import SparkSession

from cdc_marts.landing.envelopes import Message
from tests.python.cluster.services import wait_until
from tests.python.harness.processes import Home
from tests.python.landing.kafka_server import kafka
from tests.python.oracle import comparison
from tests.python.oracle.comparison import REBUILT, Difference
from tests.python.soak.memory import KINDS, Memory, Sample, later_medians
from tests.python.soak.rounds import Round, rounds_of
from tests.python.soak.traffic import (
    Producer,
    Traffic,
    draw_traffic,
    repeated_files,
    write_project,
)

pytestmark = pytest.mark.long

MINUTES = float(os.environ.get("SOAK_MINUTES") or 60)
#: Repeat a soak with the seed that it printed.
SEED = int(os.environ.get("SOAK_SEED") or random.SystemRandom().randrange(2**32))
TABLES = int(os.environ.get("SOAK_TABLES") or 200)
FORMATS = ("canal_json", "cdl_debezium_json", "dataworks_json")

#: A round each, in seconds.
BEAT = 60
SECONDS = MINUTES * 60
#: Scenes of a history: so many that an hour has some messages of most tables in each round.
SCENES = (max(8, int(MINUTES)), max(25, int(2 * MINUTES)))

#: When what happens, as shares of the whole time.
KILL, BROKER, MAINTAIN, REPEAT = 0.15, 0.35, (0.5, 0.8), 0.6
#: No message waits longer for its round, whatever has happened, in seconds.
LONGEST_LAG = float(os.environ.get("SOAK_LAG_MINUTES") or 10) * 60
#: Memory and lag of the last third, as a multiple of the second one's, are as large at most.
GROWTH = 1.2
#: Before this the Java process still grows to the size that its work needs.
WARM_AFTER = 30
#: Seconds for what has to end by itself, on a machine with other work.
PATIENCE = 1800
#: So many differences are shown.
_SHOWN = 10

#: What reached the marts when: each landing, and the end of the first good run behind it.
LAGS = """
    select
      unix_millis(landed.landed_at) as landed_at,
      unix_millis(landed.oldest) as sent_at,
      unix_millis(min(runs.ended_at)) as ended_at
    from ({landed}) as landed
    left join marts.runs
      on runs.command in ('run', 'build') and runs.outcome = 'succeeded'
      and runs.started_at >= landed.landed_at
    group by landed.landed_at, landed.oldest
"""
_LANDED = (
    "select landed_at, min(`timestamp`) as oldest from landing.{name}"
    " where `timestamp` is not null group by landed_at"
)


@dataclass
class Soak:
    """What was seen in the soak, and the marts behind it."""

    traffic: Traffic
    home: Home
    root: Path
    memory: Sequence[Sample]
    rounds: list[Round] = field(default_factory=list)
    #: seconds that a message waited at most, landing by landing
    lags: list[float] = field(default_factory=list)
    status: dict[str, Any] = field(default_factory=dict)
    #: mart -> its rows as JSON texts
    marts: dict[str, list[str]] = field(default_factory=dict)

    def rows(self, mart: str) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self.marts[mart]]


@pytest.fixture(scope="module")
def soak(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Soak]:
    folder = tmp_path_factory.mktemp("soak")
    traffic = draw_traffic(FORMATS, SEED, TABLES, SCENES)
    say(
        f"SOAK_SEED={SEED}, {MINUTES:g} minutes: {len(traffic.delivered)} sources with"
        f" {traffic.table_count} tables, {len(traffic.sendings)} messages in"
        f" {len(traffic.partitions)} topics; {len(traffic.bad_places)} of them bad,"
        f" {traffic.repeated_count} redelivered, {traffic.truncation_count} truncations"
    )
    root = write_project(folder / "project", traffic)
    (folder / "work").mkdir()
    home = Home(folder / "home", folder / "work", DBT_PROJECT_DIR=str(root))
    try:
        with kafka(spark) as broker:
            every = min(60.0, SECONDS / 60)
            with Memory(every, live_every=5) as memory, Producer(broker, traffic, SECONDS) as sent:
                rounds = _Rounds(home, folder, broker.address, memory)
                _go_through(rounds, sent, broker.kill, broker.start_again)
                rounds.end()
        found = Soak(traffic, home, root, memory.samples, rounds.ended())
        _gather(found)
        yield found
    finally:
        home.stop()


def test_memory_is_flat(soak: Soak) -> None:
    if MINUTES < WARM_AFTER:
        pytest.skip(f"a Java process is not warm before {WARM_AFTER} minutes")
    for kind in KINDS:
        medians = later_medians(soak.memory, kind)
        assert medians is not None, kind
        before, after = medians
        assert after <= GROWTH * before, f"{kind}: {_mb(before)}, then {_mb(after)}"


def test_lag_is_bounded(soak: Soak) -> None:
    assert max(soak.lags) <= LONGEST_LAG, soak.lags
    third = len(soak.lags) // 3
    before, after = median(soak.lags[third : 2 * third]), median(soak.lags[2 * third :])
    # Less than a beat is as good as nothing.
    assert after <= max(GROWTH * before, 2 * BEAT), soak.lags


def test_the_state_is_what_the_databases_hold(soak: Soak) -> None:
    states = comparison.by_table(soak.rows("latest_state"))
    _fail_on(comparison.state_differences(history, states) for history in soak.traffic.histories)


def test_every_change_is_one_event(soak: Soak) -> None:
    counts: dict[tuple[str, str], int] = {}
    for event in soak.rows("change_events"):
        table = (event["source_format"], event["table_id"])
        counts[table] = counts.get(table, 0) + 1
    _fail_on(comparison.event_differences(history, counts) for history in soak.traffic.histories)


def test_every_message_is_accounted_for(soak: Soak) -> None:
    ledger = soak.rows("message_ledger")
    _fail_on(
        comparison.ledger_differences(delivered, ledger) for delivered in soak.traffic.delivered
    )
    assert sum(entry["landed"] for entry in ledger) == len(soak.traffic.sendings)


def test_each_bad_message_is_named(soak: Soak) -> None:
    named = {
        (row["topic"], row["partition"], row["offset"])
        for row in soak.rows("quarantined_messages")
        if row["reject_code"] and row["reject_reason"]
    }
    assert named == soak.traffic.bad_places


def test_status_says_that_nothing_waits(soak: Soak) -> None:
    topics = soak.status["topics"]
    assert {topic["topic"] for topic in topics} == set(soak.traffic.formats)
    assert not [topic for topic in topics if topic["waiting"] or topic["pending_update_before"]]
    assert sum(topic["rejected"] for topic in topics) == len(soak.traffic.bad_places)
    assert soak.status["last_run"]["outcome"] == "succeeded"


def test_data_tests_pass_and_a_rebuild_gives_the_same(soak: Soak) -> None:
    soak.home.finish(soak.home.dbt("test", *_no_unit_tests()))
    soak.home.finish(soak.home.dbt("run", "--full-refresh"))
    rebuilt = soak.home.content(*(f"marts.{mart}" for mart in REBUILT))
    for mart in REBUILT:
        assert rebuilt[f"marts.{mart}"] == soak.marts[mart], mart


# -- what happens --------------------------------------------------------------------------------


class _Rounds:
    """`cdc-marts run --every 1m`, which is killed and started again."""

    def __init__(self, home: Home, folder: Path, address: str, memory: Memory) -> None:
        self.home = home
        self._folder, self._address, self._memory = folder, address, memory
        self._logs: list[Path] = []
        self._process = self._start()

    def ended(self) -> list[Round]:
        return [round_ for log in self._logs for round_ in rounds_of(log)]

    def check(self) -> None:
        """That they go on."""
        assert self._process.poll() is None, self._logs[-1].read_text("utf-8")

    def kill(self, share: float) -> float:
        """Kill Python and Java at once within a round, and start them again.

        `share`: of the time that the round before it took; gives the seconds.
        """
        self.wait_for(lambda round_: round_.has_succeeded, "a round succeeds")
        seconds = share * self.ended()[-1].seconds
        wait_until(self._is_in_a_round, "a round begins", PATIENCE)
        time.sleep(seconds)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = self._start()
        return seconds

    def wait_for(self, is_it: Callable[[Round], bool], what: str) -> None:
        """Until one more round is such a one."""
        count = len(self.ended())
        wait_until(lambda: any(map(is_it, self.ended()[count:])), what, PATIENCE)

    def end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(PATIENCE) == 0, self._logs[-1].read_text("utf-8")

    def _is_in_a_round(self) -> bool:
        """Between rounds the catalog is free for others."""
        try:
            with FileLock(self.home.folder / "local" / "lock").acquire(timeout=0):
                return False
        except Timeout:
            return True

    def _start(self) -> subprocess.Popen[bytes]:
        self._logs.append(self._folder / f"rounds-{len(self._logs) + 1}.txt")
        process = self.home.run_rounds(
            self._logs[-1],
            *("--every", f"{BEAT}s", "--no-tests", "--bootstrap-servers", self._address),
            *("--map", str(self._folder / "project" / "topics.yml")),
        )
        self._memory.process = process
        return process


def _go_through(
    rounds: _Rounds, sent: Producer, kill: Callable[[], None], start: Callable[[], None]
) -> None:
    """All that happens while messages come, until the last one is in the marts."""
    chance, began = random.Random(SEED), time.monotonic()
    home = rounds.home

    def kill_a_run() -> None:
        seconds = rounds.kill(chance.uniform(0, 0.8))
        say(f"a run was killed {seconds:.0f} s after its round began")

    def restart_the_broker() -> None:
        kill()
        away = time.monotonic()
        rounds.wait_for(lambda round_: not round_.has_succeeded, "a round fails without the broker")
        start()
        away = time.monotonic() - away
        rounds.wait_for(lambda round_: round_.has_succeeded, "a round succeeds with the broker")
        say(f"the broker was away for {away:.0f} s")

    def maintain() -> None:
        started = time.monotonic()
        log = home.work / "maintain.txt"
        done = home.command("maintain", "--keep-days", "0", log=log)
        assert done.wait(PATIENCE) == 0, log.read_text("utf-8")
        say(f"maintain took {time.monotonic() - started:.0f} s, with the wait for its turn:")
        say(log.read_text("utf-8"))

    def repeat() -> None:
        landed = sent.sent
        # The second round from here begins later than this, and so lands all that is sent by now.
        # A file must not be ahead of Kafka: a partition resumes after its highest landed offset.
        for _ in range(2):
            rounds.wait_for(lambda round_: round_.has_succeeded, "a round succeeds")
        files = repeated_files(sent.traffic, landed, chance)
        home.land(
            {
                name: [Message(s.topic, s.partition, s.offset, None, *s.record) for s in sendings]
                for name, sendings in files.items()
            }
        )
        say(f"{sum(map(len, files.values()))} messages landed once more, from files")

    happenings = [
        (KILL, kill_a_run),
        (BROKER, restart_the_broker),
        *((at, maintain) for at in MAINTAIN),
        (REPEAT, repeat),
    ]
    for at, happen in sorted(happenings, key=lambda happening: happening[0]):
        while time.monotonic() - began < at * SECONDS:
            rounds.check()
            assert not sent.is_done
            time.sleep(1)
        happen()
    wait_until(lambda: sent.is_done, "all is sent", SECONDS + PATIENCE)
    # A round may have begun before the last messages.
    rounds.wait_for(lambda round_: round_.has_succeeded, "a round succeeds")
    rounds.wait_for(lambda round_: round_.has_succeeded and not round_.landed, "all has landed")


def _gather(soak: Soak) -> None:
    home = soak.home
    query = LAGS.format(landed=" union all ".join(_LANDED.format(name=name) for name in FORMATS))
    answer = home.work / "lags.json"
    home.finish(home.command("sql", query, "--format", "json", "--output", str(answer)))
    lags = json.loads(answer.read_text("utf-8"))
    assert all(lag["ended_at"] for lag in lags), lags
    in_order = sorted(lags, key=lambda lag: lag["landed_at"])
    soak.lags = [(lag["ended_at"] - lag["sent_at"]) / 1000 for lag in in_order]
    home.finish(home.command("status", "--json"))
    # Spark says things in front of it.
    soak.status = json.loads(home.output().splitlines()[-1])
    found = home.content(*(f"marts.{mart}" for mart in REBUILT))
    soak.marts = {mart: found[f"marts.{mart}"] for mart in REBUILT}
    seconds = [round_.seconds for round_ in soak.rounds if round_.has_succeeded]
    failed = sum(not round_.has_succeeded for round_ in soak.rounds)
    say(
        f"{len(soak.rounds)} rounds, {failed} of them failed; a good one took"
        f" {median(seconds):.1f} s in the median and {max(seconds):.1f} s at most"
    )
    say(f"lag {median(soak.lags):.0f} s in the median, {max(soak.lags):.0f} s at most")
    for sample in soak.memory:
        live = "" if sample.live is None else f", {_mb(sample.live)} of them live in the heap"
        say(f"{sample.at:6.0f} s: Python {_mb(sample.python)}, Java {_mb(sample.java)}{live}")
    for kind in KINDS:
        if medians := later_medians(soak.memory, kind):
            before, after = medians
            say(f"{kind}: {_mb(before)}, then {_mb(after)}: {after / before:.2f}")


def _no_unit_tests() -> tuple[str, ...]:
    return ("--exclude-resource-type", "unit_test")


def _fail_on(found: Iterable[Iterable[Difference]]) -> None:
    differences = [difference for some in found for difference in some]
    shown = "\n".join(map(str, differences[:_SHOWN]))
    assert not differences, f"SOAK_SEED={SEED}: {len(differences)} differences\n{shown}"


def _mb(size: float) -> str:
    return f"{size / 2**20:,.0f} MiB"


def say(text: str) -> None:
    print(text, flush=True)
