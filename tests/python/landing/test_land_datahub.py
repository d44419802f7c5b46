"""`cdc-marts land datahub`, from a stand-in for DataHub to landing tables.

It needs the SDK: `uv run --extra datahub pytest tests/python/landing/test_land_datahub.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession
from typer.testing import Result

from tests.python.harness.commands import run_command

pytest.importorskip("datahub")

from cdc_marts.landing import datahub as datahub_landing
from tests.python.landing.datahub_server import DataHubServer, Record, Topic, datahub_server

COLUMNS = [
    ("_sequence_id_", "STRING"),
    ("id", "BIGINT"),
    ("name", "STRING"),
    ("amount", "DECIMAL"),
    ("rate", "DOUBLE"),
    ("is_new", "BOOLEAN"),
    ("at", "TIMESTAMP"),
]

Land = Callable[..., Result]


@pytest.fixture
def server() -> Iterator[DataHubServer]:
    with datahub_server() as running:
        yield running


@pytest.fixture
def land(
    shared_session: SparkSession, server: DataHubServer, monkeypatch: pytest.MonkeyPatch
) -> Land:
    """Runs `cdc-marts land datahub …` in the shared session."""
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "key-id")
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "secret")
    # Throttling is waited for.
    monkeypatch.setattr(datahub_landing, "_PAUSES", (0, 0))

    def run(topics: str, *options: str) -> Result:
        command = ["land", "datahub", "--endpoint", server.endpoint, "--topics", topics, *options]
        return run_command(*command)

    return run


def rows(session: SparkSession, source_format: str) -> list[Row]:
    table = session.table(f"landing.{source_format}")
    return table.orderBy("topic", "partition", "offset").collect()


def test_tuples_land_as_json_objects_with_exact_values(
    land: Land, server: DataHubServer, catalog: SparkSession
) -> None:
    topic = Topic(COLUMNS)
    topic.put(
        ["1", "9007199254740993", 'li"雷', "1.10", "0.5", "true", "1760000000000000"],
        ["2", None, "", "0.00000000", "NaN", None, None],
    )
    server.projects["shop"] = {"orders": topic}

    result = land("shop.orders")

    assert result.exit_code == 0, result.output
    first, second = rows(catalog, "datahub_tuple")
    assert (first.topic, first.partition, first.offset) == ("shop.orders", 0, 0)
    assert json.loads(first.value) == {
        "_sequence_id_": "1",
        "id": 9007199254740993,
        "name": 'li"雷',
        "amount": "1.10",
        "rate": 0.5,
        "is_new": True,
        "at": 1760000000000000,
    }
    assert json.loads(second.value)["name"] == ""
    assert json.loads(second.value)["amount"] == "0.00000000"
    assert json.loads(second.value)["rate"] == "NaN"
    assert json.loads(second.value)["id"] is None
    assert f"{first.timestamp:%Y-%m-%d %H:%M:%S}" == "2025-10-09 08:53:20"
    assert "Landed 2 messages in landing.datahub_tuple (target local)" in result.stdout


@pytest.mark.parametrize("micros", [253402300799000000, 253402300799999999, -62135596800000000])
def test_times_at_both_ends_of_the_calendar_land(
    land: Land, server: DataHubServer, catalog: SparkSession, micros: int
) -> None:
    topic = Topic([("at", "TIMESTAMP")])
    topic.put([str(micros)])
    server.projects["shop"] = {"prices": topic}
    result = land("shop.prices")
    assert result.exit_code == 0, result.output
    [row] = rows(catalog, "datahub_tuple")
    assert json.loads(row.value) == {"at": micros}


def test_tuples_from_before_a_field_was_added_land_without_it(
    land: Land, server: DataHubServer, catalog: SparkSession
) -> None:
    topic = Topic([("id", "BIGINT"), ("name", "STRING")])
    topic.put(["1", "a"])
    topic.columns.append(("note", "STRING"))
    topic.put(["2", "b", None], ["3", "c", "x"])
    server.projects["shop"] = {"orders": topic}
    result = land("shop.orders")
    assert result.exit_code == 0, result.output
    assert [json.loads(row.value) for row in rows(catalog, "datahub_tuple")] == [
        {"id": 1, "name": "a"},
        {"id": 2, "name": "b", "note": None},
        {"id": 3, "name": "c", "note": "x"},
    ]


def test_a_field_that_is_added_during_a_landing_lands(
    land: Land, server: DataHubServer, catalog: SparkSession
) -> None:
    topic = Topic([("id", "BIGINT")])
    topic.put(["1"])
    server.projects["shop"] = {"orders": topic}

    def add_field() -> None:
        topic.columns.append(("note", "STRING"))
        topic.put(["2", "x"])

    server.before_cursor = add_field
    result = land("shop.orders")
    assert result.exit_code == 0, result.output
    assert [json.loads(row.value) for row in rows(catalog, "datahub_tuple")] == [
        {"id": 1},
        {"id": 2, "note": "x"},
    ]


def test_the_records_of_a_closed_shard_land(
    land: Land, server: DataHubServer, catalog: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datahub_landing, "_BATCH", 2)
    changes, nothing = Topic(is_closed=True), Topic(is_closed=True)
    changes.put(b"a", b"b", b"c")
    server.projects["shop"] = {"changes": changes, "nothing": nothing}
    for _ in range(2):
        result = land("shop.*")
        assert result.exit_code == 0, result.output
    assert [row.offset for row in rows(catalog, "datahub_blob")] == [0, 1, 2]


def test_each_record_lands_once_also_of_shards_and_topics_that_are_new(
    land: Land, server: DataHubServer, catalog: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datahub_landing, "_BATCH", 2)
    changes = Topic()
    changes.put(b"a", b"", b"\x00\xff", b"d", b"e")
    server.projects["shop"] = {"changes_1": changes, "other": Topic()}
    land("shop.changes_*")
    assert "shop.changes_1: no new records" in land("shop.changes_*").stdout

    changes.put(b"f")
    changes.put(b"x", shard="1")
    server.projects["shop"]["changes_2"] = Topic()
    server.projects["shop"]["changes_2"].put(b"y")
    second = land("shop.changes_*")

    landed = [(row.topic, row.partition, row.offset) for row in rows(catalog, "datahub_blob")]
    assert landed == [
        *(("shop.changes_1", 0, offset) for offset in range(6)),
        ("shop.changes_1", 1, 0),
        ("shop.changes_2", 0, 0),
    ]
    values = [bytes(row.value) for row in rows(catalog, "datahub_blob")]
    assert values[:3] == [b"a", b"", b"\x00\xff"]
    assert "shop.changes_1, partition 0: 1 message, offsets 5 to 5" in second.stdout


@pytest.mark.parametrize("latest", [-1, 0])
def test_an_empty_shard_does_not_stop_a_landing(
    land: Land, server: DataHubServer, catalog: SparkSession, latest: int
) -> None:
    topic = Topic(latest_of_nothing=latest)
    topic.put(b"a", shard="1")
    server.projects["shop"] = {"empty": topic}
    result = land("shop.empty")
    assert result.exit_code == 0, result.output
    assert [(row.partition, row.offset) for row in rows(catalog, "datahub_blob")] == [(1, 0)]


def test_records_that_were_deleted_stop_a_landing_until_they_are_given_up(
    land: Land, server: DataHubServer, catalog: SparkSession
) -> None:
    topic = Topic()
    topic.put(b"a", b"b", b"c", b"d")
    server.projects["shop"] = {"short": topic}
    land("shop.short")
    topic.put(b"e", b"f")
    del topic.shards["0"][:5]

    stopped = land("shop.short")
    assert stopped.exit_code == 1
    assert "before they landed: shop.short, shard 0, 1 from 4" in stopped.stderr
    assert len(rows(catalog, "datahub_blob")) == 4

    assert land("shop.short", "--skip-lost").exit_code == 0
    assert [row.offset for row in rows(catalog, "datahub_blob")] == [0, 1, 2, 3, 5]


@pytest.mark.parametrize("latest", [-1, 0])
def test_a_quiet_shard_whose_records_have_expired_does_not_stop_a_landing(
    land: Land, server: DataHubServer, catalog: SparkSession, latest: int
) -> None:
    topic = Topic(latest_of_nothing=latest)
    topic.put(b"a", b"b", b"c", b"d")
    server.projects["shop"] = {"quiet": topic}
    land("shop.quiet")

    topic.shards["0"] = []
    result = land("shop.quiet")
    assert result.exit_code == 0, result.output
    assert "shop.quiet: no new records" in result.stdout

    topic.shards["0"] = [Record(4, b"e")]
    assert land("shop.quiet").exit_code == 0
    assert [row.offset for row in rows(catalog, "datahub_blob")] == [0, 1, 2, 3, 4]


def test_a_topic_that_was_created_again_and_one_in_batches_stop_a_landing(
    land: Land, server: DataHubServer, catalog: SparkSession
) -> None:
    topic = Topic()
    topic.put(b"a", b"b", b"c")
    server.projects["shop"] = {"anew": topic}
    land("shop.anew")
    server.projects["shop"]["anew"] = Topic(created=None)
    assert "does not say when the topic was created" in land("shop.anew").stderr

    anew = server.projects["shop"]["anew"] = Topic(created=topic.created + 1)
    anew.put(b"A", b"B", b"C", b"D")
    for _ in range(2):
        stopped = land("shop.anew", "--skip-lost")
        assert stopped.exit_code == 1
        assert (
            "The topic shop.anew is not the one in landing.datahub_blob: it was deleted and"
            " created again"
        ) in stopped.stderr
        assert "Nothing was landed." in stopped.stderr
    assert len(rows(catalog, "datahub_blob")) == 3

    batches = server.projects["shop"]["batches"] = Topic()
    batches.put(b"a", b"b")
    batches.shards["0"][1].sequence = 0
    assert "several records with the sequence 0" in land("shop.batches").stderr


def test_a_topic_that_landed_without_its_create_time_is_noted_by_the_next_landing(
    land: Land, server: DataHubServer, catalog: SparkSession
) -> None:
    # As a version left it that noted no time.
    topic = Topic(created=None)
    topic.put(b"a")
    server.projects["shop"] = {"known": topic, "empty": Topic(created=1)}
    land("shop.*")
    topic.created = 2
    topic.put(b"b")
    # No record of it has landed.
    server.projects["shop"]["empty"] = Topic(created=2)
    assert land("shop.*").exit_code == 0
    topic.created = 3
    assert "The topic shop.known is not the one in" in land("shop.*").stderr
    assert [bytes(row.value) for row in rows(catalog, "datahub_blob")] == [b"a", b"b"]


def test_refusals_say_what_to_do(land: Land, server: DataHubServer, catalog: SparkSession) -> None:
    topic = Topic()
    topic.put(b"a")
    server.projects["shop"] = {"busy": topic}

    assert f"{server.endpoint} has no shop.nope. Check --topics" in land("shop.nope").stderr
    assert "has no topic shop.no*" in land("shop.no*").stderr
    assert "names no topic of DataHub. Write project.topic" in land("busy").stderr
    server.refusals = [(403, "NoPermission")]
    assert "refuses shop.busy, shard 0 (It is NoPermission)" in land("shop.busy").stderr
    server.refusals = [(400, "LimitExceeded")]
    assert land("shop.busy").exit_code == 0
    assert len(rows(catalog, "datahub_blob")) == 1


def test_no_access_key_is_told(server: DataHubServer, tmp_path: Path) -> None:
    planted = {
        "ALIBABA_CLOUD_ACCESS_KEY_ID": "planted-id",
        "ALIBABA_CLOUD_ACCESS_KEY_SECRET": "planted-secret",
        "ALIBABA_CLOUD_SECURITY_TOKEN": "planted-token",
    }
    command = [Path(sys.executable).with_name("cdc-marts"), "land", "datahub", "--topics", "shop.a"]

    result = subprocess.run(
        [*command, "--endpoint", server.endpoint],
        env={**os.environ, **planted, "CDC_MARTS_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    output = result.stdout + result.stderr
    # The server knows another key.
    assert result.returncode == 1, output
    assert "Unauthorized" in output
    assert "planted" not in output


def test_a_missing_access_key_is_named_before_spark_starts(
    without_spark: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ALIBABA_CLOUD_ACCESS_KEY_ID", raising=False)
    command = ["land", "datahub", "--endpoint", "http://h", "--topics", "a.b"]
    result = run_command(*command)
    assert result.exit_code == 2
    assert "ALIBABA_CLOUD_ACCESS_KEY_ID is missing" in result.stderr
