"""The models on a cluster: the same marts as on one machine, whatever happens to its workers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from cdc_marts.landing.envelopes import Message
from tests.python.cluster.conftest import PASSWORD
from tests.python.cluster.services import HOST, Standalone, answer_of, wait_until
from tests.python.harness.processes import MARTS, TIMEOUT, Commands, Home, all_samples, take_shares
from tests.python.landing.kafka_server import LOGIN, kafka

pytestmark = pytest.mark.long

RELATIONS = (*MARTS, "marts.shop_orders", "marts.shop_payments")
#: No sample is of this topic, so it has landed nothing when the broker starts.
TOPIC = "kafka_of_a_cluster"
#: Columns that say when a message landed, which is another moment on each target.
_TIMES_OF_LANDING = ("landed_at", "last_landed_at", "lag_ms")

User = Callable[..., Commands]


class TestRuns:
    """One after the other: each lands a share of the samples before its runs."""

    @pytest.fixture(scope="class")
    def left(self) -> dict[str, list[Message]]:
        return all_samples()

    @pytest.fixture(scope="class")
    def user(self, a_user: User, spark_cluster: Standalone) -> Commands:
        return a_user(CDC_MARTS_SPARK_MASTER=spark_cluster.url)

    def test_the_marts_equal_the_embedded_ones(
        self,
        left: dict[str, list[Message]],
        user: Commands,
        embedded: Home,
        spark_cluster: Standalone,
    ) -> None:
        """And the executors have no Python: there is none where they look for it."""
        user.finish(user.dbt("debug"))
        share = take_shares(left, 3)
        user.land(share)
        run = user.dbt("run")
        wait_until(
            lambda: run.poll() is not None or len(spark_cluster.executors()) == 2,
            "both workers have an executor",
            patience=TIMEOUT,
        )
        assert run.poll() is None, user.output()
        assert PASSWORD not in " ".join(_command_lines(run))
        user.finish(run)
        _assert_equal(user, embedded, share)

    def test_a_worker_that_is_killed_does_not_fail_the_run(
        self,
        left: dict[str, list[Message]],
        user: Commands,
        embedded: Home,
        spark_cluster: Standalone,
        ui_port: int,
    ) -> None:
        share = take_shares(left, 2)
        user.land(share)
        run = user.dbt("run")
        wait_until(
            lambda: "OK created python incremental" in user.output() or run.poll() is not None,
            "some messages are read",
            patience=TIMEOUT,
        )
        wait_until(
            lambda: _busy_executors(ui_port) == 2 or run.poll() is not None,
            "both workers have work",
            patience=TIMEOUT,
        )
        assert run.poll() is None, user.output()
        spark_cluster.kill_worker(spark_cluster.executors()[0])
        user.finish(run)
        _assert_equal(user, embedded, share)
        spark_cluster.start_worker()

    def test_two_runs_at_once_do_what_one_does(
        self, left: dict[str, list[Message]], user: Commands, embedded: Home, a_user: User
    ) -> None:
        share = take_shares(left, 1)
        # Without a variable the master is that of spark-defaults.conf.
        others = a_user()
        user.land(share)
        runs = {user: user.dbt("run"), others: others.dbt("run")}
        for of_user, run in runs.items():
            of_user.finish(run)
        outputs = [of_user.output() for of_user in runs]
        assert any("uses the catalog: waiting for it to end" in output for output in outputs)
        _assert_equal(user, embedded, share)
        user.finish(user.dbt("test"))


def test_messages_of_kafka_land_on_a_cluster(
    a_user: User, spark: SparkSession, tmp_path: Path
) -> None:
    """Its executors read them, with a login and jars that they have of the driver."""
    user = a_user()
    properties = tmp_path / "client.properties"
    properties.write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={LOGIN};\n"
    )
    with kafka(spark) as broker:
        broker.create_topic(TOPIC, 2)
        broker.produce(TOPIC, (b"1", b"a"), (None, None))
        broker.produce(TOPIC, (b"2", b"b"), partition=1)
        options = ("--topics", TOPIC, "--properties", str(properties))
        land = (*options, "--bootstrap-servers", broker.login_address)
        user.finish(user.land_kafka("dataworks_json", *land))
        assert f"{TOPIC}, partition 0: 2 messages, offsets 0 to 1" in user.output()
        broker.produce(TOPIC, (b"2", b"c"), partition=1)
        user.finish(user.land_kafka("dataworks_json", *land))
        assert f"{TOPIC}, partition 1: 1 message, offsets 1 to 1" in user.output()
    messages = map(json.loads, user.content("landing.dataworks_json")["landing.dataworks_json"])
    landed = [(row["partition"], row["offset"]) for row in messages if row["topic"] == TOPIC]
    assert sorted(landed) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def _assert_equal(user: Commands, embedded: Home, share: Mapping[str, list[Message]]) -> None:
    """The marts of the cluster are those of the embedded target, which gets the share only now."""
    embedded.land(share)
    embedded.run()
    ours, theirs = user.content(*RELATIONS), embedded.content(*RELATIONS)
    assert theirs["marts.change_events"]
    for relation in RELATIONS:
        assert _timeless(ours[relation]) == _timeless(theirs[relation]), relation


def _timeless(rows: list[str]) -> list[str]:
    texts = []
    for row in map(json.loads, rows):
        for column in _TIMES_OF_LANDING:
            row.pop(column, None)
        texts.append(json.dumps(row, sort_keys=True))
    return sorted(texts)


def _busy_executors(ui_port: int) -> int:
    """How many executors run tasks."""
    address = f"http://{HOST}:{ui_port}/api/v1/applications"
    for application in answer_of(address) or []:
        executors = answer_of(f"{address}/{application['id']}/executors") or []
        return sum(executor["activeTasks"] > 0 for executor in executors)
    return 0


def _command_lines(process: subprocess.Popen[bytes]) -> list[str]:
    parts = []
    for child in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            parts += child.cmdline()
    return parts
