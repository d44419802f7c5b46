"""`cdc-marts land kafka`, from a broker to landing tables."""

from __future__ import annotations

import datetime as dt
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from typer.testing import Result

from cdc_marts.landing.kafka_broker import Broker
from cdc_marts.landing.kafka_offsets import LandedOffsets
from cdc_marts.landing.kafka_settings import client_settings, without_secrets
from tests.python.cluster.services import HOST, free_port
from tests.python.harness.commands import run_command
from tests.python.harness.manifest import ROOT
from tests.python.harness.processes import finished, program
from tests.python.landing.kafka_server import LOGIN, PASSWORD, Kafka
from tests.python.landing.kafka_server import kafka as kafka_broker

pytestmark = pytest.mark.thorough

TABLE = "landing.canal_json"
#: A producer's time in nanoseconds, where milliseconds belong.
NANOS = 1_760_000_000_123_000_000
QUICK = "default.api.timeout.ms=2000\nrequest.timeout.ms=1000\n"

Land = Callable[..., Result]


@pytest.fixture(scope="module")
def kafka(spark: SparkSession) -> Iterator[Kafka]:
    with kafka_broker(spark) as broker:
        yield broker


@pytest.fixture
def land(shared_session: SparkSession, kafka: Kafka) -> Land:
    """Runs `cdc-marts land kafka --format canal_json …` in the shared session."""

    def run(topics: str, *arguments: object, servers: str = kafka.address) -> Result:
        command = ["land", "kafka", "--format", "canal_json", "--topics", topics]
        options = ["--bootstrap-servers", servers, *map(str, arguments)]
        return run_command(*command, *options)

    return run


@pytest.fixture
def settings(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a properties file."""

    def write(text: str) -> Path:
        path = tmp_path / "client.properties"
        path.write_text(text)
        return path

    return write


def rows(session: SparkSession) -> list[Row]:
    return session.table(TABLE).orderBy("topic", "partition", "offset").collect()


def landed(session: SparkSession) -> list[tuple[int, int, bytes]]:
    """Partition, offset and value."""
    return [(row.partition, row.offset, bytes(row.value)) for row in rows(session)]


def commits(session: SparkSession) -> int:
    return session.table(f"{TABLE}.snapshots").count()


def messages(*values: bytes) -> list[tuple[None, bytes]]:
    return [(None, value) for value in values]


def test_each_message_lands_once_also_of_partitions_and_topics_that_are_new(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("once", 2)
    kafka.produce("once", *messages(b"a", b"b"))
    first = land("once")
    kafka.add_partitions("once", 3)
    kafka.produce("once", *messages(b"c"))
    kafka.produce("once", *messages(b"d", b"e"), partition=2)
    kafka.create_topic("once_more")
    kafka.produce("once_more", *messages(b"f"))
    second = land("once,once_more")

    expected = [(0, 0, b"a"), (0, 1, b"b"), (0, 2, b"c"), (2, 0, b"d"), (2, 1, b"e"), (0, 0, b"f")]
    assert landed(catalog) == expected
    assert commits(catalog) == 2
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.stderr == second.stderr == ""
    assert "Landed 2 messages in landing.canal_json (target local)" in first.stdout
    assert "Landed 4 messages" in second.stdout
    assert "  once, partition 0: 1 message, offsets 2 to 2\n" in second.stdout
    assert "  once, partition 2: 2 messages, offsets 0 to 1\n" in second.stdout
    assert "Next: ./run dbt build --target local" in second.stdout


def test_many_partitions_are_not_waited_for(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    partitions = 40
    kafka.create_topic("many_partitions", partitions)
    for partition in range(partitions):
        kafka.produce("many_partitions", *messages(b"%d" % partition), partition=partition)
    began = time.monotonic()
    land("many_partitions")
    seconds = time.monotonic() - began

    assert len(landed(catalog)) == partitions
    # Kafka's default, half a second for a fetch that finds nothing more, would count in each.
    assert seconds < 0.5 * partitions


def test_messages_land_byte_for_byte(land: Land, kafka: Kafka, catalog: SparkSession) -> None:
    before = dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
    kafka.create_topic("bytes")
    kafka.produce("bytes", (b"\0\xff", b"\x80\0\n"), (None, b""), timestamp=1)
    kafka.produce("bytes", (b"", None), timestamp=1_760_000_000_123)
    # Of a producer that counts microseconds.
    kafka.produce("bytes", (None, b"late"), timestamp=1_760_000_000_123_000)

    land("bytes")

    first, empty, tombstone, late = rows(catalog)
    assert first == Row(
        topic="bytes",
        partition=0,
        offset=0,
        timestamp=dt.datetime(1970, 1, 1, 0, 0, 0, 1000),
        key=bytearray(b"\0\xff"),
        value=bytearray(b"\x80\0\n"),
        landed_at=first.landed_at,
    )
    assert (empty.key, empty.value) == (None, bytearray())
    assert (tombstone.key, tombstone.value) == (bytearray(), None)
    assert tombstone.timestamp == dt.datetime(2025, 10, 9, 8, 53, 20, 123000)
    assert late.timestamp is None
    assert before <= first.landed_at <= dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)


def test_nothing_new_makes_no_commit(land: Land, kafka: Kafka, catalog: SparkSession) -> None:
    kafka.create_topic("quiet")
    empty = land("quiet")
    kafka.produce("quiet", *messages(b"a"))
    land("quiet")
    again = land("quiet")

    assert commits(catalog) == 1
    assert (empty.exit_code, again.exit_code) == (0, 0)
    assert "quiet: no new messages for landing.canal_json" in empty.stdout
    assert "quiet: no new messages for landing.canal_json" in again.stdout


def test_few_messages_of_many_partitions_are_one_file(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("wide", 5)
    for partition in range(5):
        kafka.produce("wide", *messages(b"a"), partition=partition)

    land("wide")

    assert len(rows(catalog)) == 5
    assert catalog.table(f"{TABLE}.files").count() == 1


def test_a_bounded_run_is_gone_on_with(land: Land, kafka: Kafka, catalog: SparkSession) -> None:
    kafka.create_topic("bounded", 2)
    kafka.produce("bounded", *messages(*(b"%d" % number for number in range(7))))
    kafka.produce("bounded", *messages(b"x"), partition=1)

    first = land("bounded", "--max-messages", 4)
    assert [row[:2] for row in landed(catalog)] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert "Up to 4 messages still wait in Kafka" in first.stdout
    last = land("bounded", "--max-messages", 4)
    assert [row[1] for row in landed(catalog)] == [0, 1, 2, 3, 4, 5, 6, 0]
    assert "still wait" not in last.stdout


def test_of_transactions_only_what_was_committed_lands(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("deals")
    kafka.produce_in_transaction("deals", *messages(b"a", b"b"), is_committed=True)
    kafka.produce_in_transaction("deals", *messages(b"no"), is_committed=False)
    with kafka.open_transaction("deals", *messages(b"open")):
        kafka.produce("deals", *messages(b"c"))
        for _ in range(2):
            waiting = land("deals")
            assert waiting.exit_code == 0
            assert (
                "Messages wait behind open transactions: deals, partition 0, 2 offsets from 5."
            ) in waiting.stderr
            assert "kafka-transactions.sh find-hanging" in waiting.stderr
            assert landed(catalog) == [(0, 0, b"a"), (0, 1, b"b")]
    assert land("deals").stderr == ""
    assert landed(catalog)[2:] == [(0, 5, b"open"), (0, 6, b"c")]

    # Offsets of transactions alone are nothing new, and nothing lost.
    assert "no new messages" in land("deals").stdout
    kafka.produce_in_transaction("deals", *messages(b"no"), is_committed=False)
    assert "no new messages" in land("deals", "--max-messages", 1).stdout
    assert "no new messages" in land("deals").stdout
    assert commits(catalog) == 2
    kafka.delete_records("deals", 0, before=10)
    kafka.produce("deals", *messages(b"d"))
    assert land("deals").exit_code == 0
    assert landed(catalog)[4:] == [(0, 10, b"d")]


# Several topics


def test_a_map_lands_topics_of_several_formats_and_finds_those_that_are_new(
    shared_session: SparkSession, kafka: Kafka, tmp_path: Path
) -> None:
    topics = tmp_path / "topics.yml"
    topics.write_text(
        "topics:\n  mapped_avro: dts_avro\n  mapped_old: skip\n  mapped_*: canal_json\n"
        "  not_there: cdl_json\n"
    )

    def run(*options: object) -> Result:
        command = ["land", "kafka", "--map", topics, "--bootstrap-servers", kafka.address]
        return run_command(*command, *options)

    none = run()
    assert none.exit_code == 1
    assert "has none of the topics that" in none.stderr

    for topic in ("mapped_avro", "mapped_old", "mapped_a"):
        kafka.create_topic(topic)
        kafka.produce(topic, *messages(b"first", b"second"))
    first = run("--max-messages", 3)
    assert first.exit_code == 0, first.output
    assert "has no topic not_there. A later landing finds it" in first.stderr
    assert "Landed 2 messages in landing.dts_avro" in first.stdout
    assert "Landed 1 message in landing.canal_json" in first.stdout
    assert "Up to 1 message still wait in Kafka" in first.stdout

    kafka.create_topic("mapped_b")
    kafka.produce("mapped_b", *messages(b"of a new topic"))
    second = run()
    assert "mapped_avro: no new messages for landing.dts_avro" in second.stdout
    assert [row.topic for row in rows(shared_session)] == ["mapped_a", "mapped_a", "mapped_b"]


def test_a_pattern_lands_topics_that_fit_and_finds_those_that_are_new(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    nothing = land("orders_*")
    assert nothing.exit_code == 1
    assert "has none of the topics that --topics names" in nothing.stderr

    for topic in ("orders", "orders_a", "old_orders_a", "returns_1", "returns_10"):
        kafka.create_topic(topic)
        kafka.produce(topic, *messages(topic.encode()))
    first = land("orders_*,returns_?")
    assert first.exit_code == 0, first.output
    assert [row.topic for row in rows(catalog)] == ["orders_a", "returns_1"]

    kafka.create_topic("orders_b", 2)
    kafka.produce("orders_b", *messages(b"of a new topic"), partition=1)
    kafka.produce("orders_a", *messages(b"more"))
    second = land("orders_*,returns_?")
    assert "Landed 2 messages in landing.canal_json" in second.stdout
    places = [(row.topic, row.partition, row.offset) for row in rows(catalog)]
    of_a = [("orders_a", 0, 0), ("orders_a", 0, 1)]
    assert places == [*of_a, ("orders_b", 1, 0), ("returns_1", 0, 0)]


@pytest.mark.parametrize(
    ("start", "values"),
    [
        ("earliest", [b"old", b"new", b"newer"]),
        ("latest", [b"newer"]),
        ("2025-10-09T08:54:00", [b"new", b"newer"]),
    ],
)
def test_a_topic_that_a_pattern_finds_later_begins_where_it_is_told(
    land: Land, kafka: Kafka, catalog: SparkSession, start: str, values: list[bytes]
) -> None:
    name = f"found_{start[:4]}"
    kafka.create_topic(f"{name}_first")
    land(f"{name}_*", "--start", start)
    kafka.create_topic(f"{name}_later")
    kafka.produce(f"{name}_later", *messages(b"old"), timestamp=1_760_000_000_000)
    kafka.produce(f"{name}_later", *messages(b"new"), timestamp=1_760_000_060_000)

    land(f"{name}_*", "--start", start)
    kafka.produce(f"{name}_later", *messages(b"newer"), timestamp=1_760_000_120_000)
    land(f"{name}_*", "--start", start)

    assert [value for _, _, value in landed(catalog)] == values


def test_a_topic_that_never_landed_begins_where_it_is_told(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("begun")
    kafka.produce("begun", *messages(b"a"), timestamp=1_760_000_000_000)
    kafka.produce("begun", *messages(b"b"), timestamp=1_760_000_060_000)
    kafka.create_topic("latest")
    kafka.produce("latest", *messages(b"old"))

    result = land("begun", "--start", "2025-10-09T08:54:00")
    assert "The landing begins at: begun, partition 0, offset 1" in result.stderr
    assert landed(catalog) == [(0, 1, b"b")]

    assert "no new messages" in land("latest", "--start", "latest").stdout
    kafka.produce("latest", *messages(b"new"))
    kafka.add_partitions("latest", 2)
    kafka.produce("latest", *messages(b"of a new partition"), partition=1)
    land("latest", "--start", "latest")
    assert landed(catalog)[1:] == [(0, 1, b"new"), (1, 0, b"of a new partition")]

    kafka.create_topic("future")
    kafka.produce("future", *messages(b"a"))
    assert "no new messages" in land("future", "--start", "2100-01-01").stdout
    assert "--start needs earliest, latest, or a time" in land("future", "--start", "now").stderr


# What Kafka no longer has


def test_lost_messages_stop_a_landing_until_they_are_given_up(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("short", 2)
    kafka.produce("short", *messages(b"a"))
    land("short")
    kafka.produce("short", *messages(b"b", b"c", b"d"))
    kafka.produce("short", *messages(b"x"), partition=1)
    kafka.delete_records("short", 0, before=3)

    stopped = land("short")
    assert stopped.exit_code == 1
    assert "before they landed: short, partition 0, 2 offsets from 1" in stopped.stderr
    assert "Use --skip-lost" in stopped.stderr
    assert "Nothing was landed." in stopped.stderr
    assert len(rows(catalog)) == 1

    skipped = land("short", "--skip-lost")
    assert skipped.exit_code == 0
    assert "short, partition 0, 2 offsets from 1" in skipped.stderr
    assert landed(catalog) == [(0, 0, b"a"), (0, 3, b"d"), (1, 0, b"x")]
    assert land("short").exit_code == 0


def test_what_is_given_up_is_so_for_good(land: Land, kafka: Kafka, catalog: SparkSession) -> None:
    kafka.create_topic("gone", 2)
    kafka.produce("gone", *messages(b"a"))
    # Partition 1 is known though it is empty.
    land("gone")
    kafka.produce("gone", *messages(b"b"))
    kafka.produce("gone", *messages(b"x", b"y"), partition=1)
    kafka.delete_records("gone", 0, before=2)
    kafka.delete_records("gone", 1, before=2)

    stopped = land("gone")
    assert "gone, partition 0, 1 offset from 1; gone, partition 1, 2 offsets" in stopped.stderr
    assert "no new messages" in land("gone", "--skip-lost").stdout
    assert land("gone").exit_code == 0
    assert landed(catalog) == [(0, 0, b"a")]


def test_lost_messages_of_a_new_partition_stop_a_landing_if_the_topic_landed_from_kafka(
    land: Land, kafka: Kafka, catalog: SparkSession, tmp_path: Path
) -> None:
    envelopes = tmp_path / "envelopes.jsonl"
    envelopes.write_text('{"topic": "filed", "partition": 0, "offset": 0, "value": "f"}\n')
    run_command("land", "files", "--format", "canal_json", str(envelopes))
    for name in ("grown", "filed"):
        kafka.create_topic(name)
        kafka.produce(name, *messages(b"a"))
    land("grown")
    for name in ("grown", "filed"):
        kafka.add_partitions(name, 2)
        kafka.produce(name, *messages(b"x", b"y"), partition=1)
        kafka.delete_records(name, 1, before=1)

    stopped = land("grown,filed")
    assert stopped.exit_code == 1
    assert "before they landed: grown, partition 1, 1 offset from 0." in stopped.stderr
    assert "deleted the first messages of filed, partition 1, before offset 1" in stopped.stderr

    assert land("grown,filed", "--skip-lost").exit_code == 0
    assert landed(catalog) == [(0, 0, b"f"), (1, 1, b"y"), (0, 0, b"a"), (1, 1, b"y")]


def test_a_topic_that_begins_late_is_landed_from_there(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("late")
    kafka.produce("late", *messages(b"a", b"b"))
    kafka.delete_records("late", 0, before=1)

    result = land("late")

    assert result.exit_code == 0
    assert "deleted the first messages of late, partition 0, before offset 1" in result.stderr
    assert landed(catalog) == [(0, 1, b"b")]


def test_a_topic_that_was_created_anew_stops_a_landing(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("anew")
    kafka.produce("anew", *messages(b"a", b"b"))
    land("anew")
    kafka.delete_topic("anew")
    kafka.create_topic("anew")

    def fails(*options: str) -> str:
        result = land("anew", *options)
        assert result.exit_code == 1
        assert len(rows(catalog)) == 2
        return result.stderr

    assert "deleted and created again" in fails()
    assert "has landed up to offset 1, but Kafka has none of it" in fails("--moved")
    kafka.produce("anew", *messages(b"A"))
    assert "has landed up to offset 1, but Kafka has it only up to 0" in fails("--moved")
    kafka.produce("anew", *messages(b"B", b"C"))
    assert "The topic anew is not the one in landing.canal_json" in fails()

    assert land("anew", "--moved").exit_code == 0
    assert landed(catalog)[2:] == [(0, 2, b"C")]
    assert land("anew").exit_code == 0


def test_a_topic_that_was_created_anew_before_a_message_landed_begins_at_its_first_one(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("unread")
    kafka.produce("unread", *messages(b"a", b"b"))
    assert "no new messages" in land("unread", "--start", "latest").stdout
    kafka.delete_topic("unread")
    kafka.create_topic("unread")
    kafka.produce("unread", *messages(b"A"))

    moved = land("unread", "--moved")
    assert "has landed up to offset 1, but Kafka has it only up to 0" in moved.stderr
    assert land("unread").exit_code == 0
    assert landed(catalog) == [(0, 0, b"A")]


def test_topics_that_kafka_compacts_are_named(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("compact", **{"cleanup.policy": "compact"})
    kafka.create_topic("compact_and_delete", **{"cleanup.policy": "compact,delete"})
    kafka.create_topic("not_compact")
    kafka.produce("compact", (b"1", b"a"), (b"1", b"b"))

    result = land("not_compact,compact_and_delete,compact")

    assert result.exit_code == 0
    assert result.stderr.count("Kafka compacts ") == 1
    assert "Kafka compacts compact, compact_and_delete: it removes" in result.stderr
    assert landed(catalog) == [(0, 0, b"a"), (0, 1, b"b")]


def test_settings_that_kafka_does_not_show_are_no_error(
    kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("seen", **{"cleanup.policy": "compact"})
    client, _ = client_settings(catalog, None)
    with Broker(catalog, kafka.address, client) as broker:
        assert broker.compacted(["not_there", "seen"]) == ["seen"]


# Runs that end before their end


def test_an_append_that_fails_lands_nothing(
    land: Land, kafka: Kafka, catalog: SparkSession, tmp_path: Path
) -> None:
    kafka.create_topic("failing")
    kafka.produce("failing", *messages(b"a"))
    land("failing")
    kafka.produce("failing", *messages(b"b"))
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    setting = "'write.data.path'"
    catalog.sql(f"alter table {TABLE} set tblproperties ({setting} = '{in_the_way}/data')")

    result = land("failing")
    assert result.exit_code == 1
    assert "Spark failed; the next landing resumes after the landed offsets" in result.stderr
    assert len(rows(catalog)) == 1

    catalog.sql(f"alter table {TABLE} unset tblproperties ({setting})")
    land("failing")
    assert landed(catalog) == [(0, 0, b"a"), (0, 1, b"b")]


def kill_after_its_commit(land: Callable[[], Result]) -> None:
    """Land, and be killed after the rows are committed, before anything is noted of them."""
    keep = LandedOffsets.keep

    def keep_or_die(self: LandedOffsets, read_to: Any, offsets: Any) -> None:
        if offsets:
            raise KeyboardInterrupt
        keep(self, read_to, offsets)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LandedOffsets, "keep", keep_or_die)
        assert land().exit_code != 0


def test_a_run_that_is_killed_right_after_its_commit_is_gone_on_with(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    kafka.create_topic("killed")
    kafka.produce_in_transaction("killed", *messages(b"a"), is_committed=True)
    kill_after_its_commit(lambda: land("killed"))
    assert landed(catalog) == [(0, 0, b"a")]

    kafka.produce("killed", *messages(b"b"))
    land("killed")
    assert landed(catalog) == [(0, 0, b"a"), (0, 2, b"b")]


def test_a_kill_does_not_forget_where_partitions_without_new_messages_begin(
    land: Land, kafka: Kafka, catalog: SparkSession
) -> None:
    start = 1_760_000_000_000
    kafka.create_topic("begun_and_killed", 2)
    for partition in (0, 1):
        kafka.produce("begun_and_killed", *messages(b"old"), partition=partition, timestamp=1)
    kafka.produce("begun_and_killed", *messages(b"new"), timestamp=start)

    def from_start() -> Result:
        return land("begun_and_killed", "--start", "2025-10-09T08:53:20")

    kill_after_its_commit(from_start)
    assert landed(catalog) == [(0, 1, b"new")]
    kafka.produce("begun_and_killed", *messages(b"next"), partition=1)
    from_start()
    assert landed(catalog) == [(0, 1, b"new"), (1, 1, b"next")]


def test_a_partition_lands_up_to_a_time_in_nanoseconds_and_behind_its_envelope(
    land: Land, kafka: Kafka, catalog: SparkSession, tmp_path: Path
) -> None:
    kafka.create_topic("nanos", 3)
    kafka.produce("nanos", *messages(b"a", b"b"))
    kafka.produce("nanos", *messages(b"late"), partition=1, timestamp=NANOS)
    kafka.produce("nanos", *messages(b"c"), partition=1)
    kafka.produce("nanos", *messages(b"d", b"e", b"f"), partition=2)
    kafka.produce("nanos", *messages(b"later"), partition=2, timestamp=NANOS)
    kafka.produce("nanos", *messages(b"g", b"h"), partition=2)

    before = [(0, 0, b"a"), (0, 1, b"b"), (2, 0, b"d"), (2, 1, b"e"), (2, 2, b"f")]
    for _ in range(2):
        stopped = land("nanos")
        assert stopped.exit_code == 1
        assert (
            "milliseconds: nanos, partition 1, offset 0; nanos, partition 2, offset 3. Land these"
            " messages by `cdc-marts land files`"
        ) in stopped.stderr
        assert landed(catalog) == before
        assert commits(catalog) == 1
        kafka.produce("nanos", *messages(b"i"), partition=2)

    envelopes = tmp_path / "late.jsonl"
    envelopes.write_text(
        '{"topic": "nanos", "partition": 1, "offset": 0, "value": "late"}\n'
        '{"topic": "nanos", "partition": 2, "offset": 3, "value": "later"}\n'
    )
    by_hand = run_command("land", "files", "--format", "canal_json", envelopes)
    assert by_hand.exit_code == 0, by_hand.output
    last = land("nanos")

    assert last.exit_code == 0, last.output
    late = [(1, 0, b"late"), (1, 1, b"c"), (2, 3, b"later"), (2, 4, b"g"), (2, 5, b"h")]
    assert landed(catalog) == sorted([*before, *late, (2, 6, b"i"), (2, 7, b"i")])


def test_the_other_formats_land_if_one_cannot(
    shared_session: SparkSession, kafka: Kafka, tmp_path: Path
) -> None:
    for topic in ("first_mapped", "late_mapped", "last_mapped"):
        kafka.create_topic(topic)
    kafka.produce("first_mapped", *messages(b"a"))
    kafka.produce("late_mapped", *messages(b"late"), timestamp=NANOS)
    kafka.produce("last_mapped", *messages(b"b", b"c"))
    topics = tmp_path / "topics.yml"
    topics.write_text(
        "topics: {first_mapped: dts_avro, late_mapped: canal_json, last_mapped: cdl_json}"
    )

    def run() -> Result:
        return run_command(
            *("land", "kafka", "--map", topics, "--bootstrap-servers", kafka.address)
        )

    result = run()
    assert result.exit_code == 1
    assert "Landed 1 message in landing.dts_avro" in result.stdout
    assert "Landed 2 messages in landing.cdl_json" in result.stdout
    assert "landing.canal_json" not in result.stdout
    assert "Next: ./run dbt build" in result.stdout
    assert "late_mapped, partition 0, offset 0" in result.stderr
    assert "Nothing was landed." not in result.stderr

    again = run()
    assert again.exit_code == 1
    assert "last_mapped: no new messages for landing.cdl_json" in again.stdout
    assert "Nothing was landed." in again.stderr


# Brokers and their settings


def test_an_unknown_topic_is_named_and_not_created(land: Land, kafka: Kafka) -> None:
    kafka.create_topic("known")

    result = land("known,nope,no such")

    assert result.exit_code == 1
    assert f"{kafka.address} has no topic no such, nope. Check --topics" in result.stderr
    assert "nope" not in kafka.topic_names()


def test_a_broker_that_does_not_answer_is_given_up(
    land: Land, settings: Callable[[str], Path]
) -> None:
    with socket.socket() as silent:
        silent.bind((HOST, 0))
        silent.listen()
        for port in (free_port(), silent.getsockname()[1]):
            began = time.monotonic()
            result = land("shop", "--properties", settings(QUICK), servers=f"{HOST}:{port}")
            assert time.monotonic() - began < 15
            assert result.exit_code == 1
            assert f"The request to Kafka at {HOST}:{port} failed (" in result.stderr
            assert "check --bootstrap-servers, the network" in result.stderr
            assert "Nothing was landed." in result.stderr


def test_a_name_without_an_address_is_told(land: Land) -> None:
    result = land("shop", servers="no-such-host.invalid:9092")

    assert result.exit_code == 1
    assert "No resolvable bootstrap urls" in result.stderr


def test_a_properties_file_logs_in(
    land: Land,
    kafka: Kafka,
    catalog: SparkSession,
    settings: Callable[[str], Path],
    spark_home: Path,
) -> None:
    kafka.create_topic("private")
    kafka.produce("private", *messages(b"a"))
    login = f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n{QUICK}sasl.jaas.config="

    right = settings(f"bootstrap.servers=x:1\nsecurty.protocol=SSL\n{login}\\\n  {LOGIN};\n")
    result = land("private", "--properties", right, servers=kafka.login_address)
    assert result.exit_code == 0
    assert landed(catalog) == [(0, 0, b"a")]
    assert "client does not know them: bootstrap.servers, securty.protocol" in result.stderr

    wrong = settings(f"{login}{LOGIN.replace(PASSWORD, 'Wr0ng')};\n")
    result = land("private", "--properties", wrong, servers=kafka.login_address)
    assert result.exit_code == 1
    assert "Authentication failed" in result.stderr
    assert "check the sasl.* settings of --properties" in result.stderr
    log = (spark_home / "spark.log").read_text()
    assert all(secret not in result.output + log for secret in ("Wr0ng", PASSWORD))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a=\\u12", "is no Java properties file: Malformed \\uxxxx encoding"),
        ("security.protocol=nope", "Invalid value nope for configuration security.protocol"),
        ("security.protocol=SSL\nssl.truststore.location=/nope.jks", "Failed to load SSL keystore"),
        ("isolation.level=nope", "Invalid value nope for configuration isolation.level"),
        (
            f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={LOGIN}",
            "JAAS config",
        ),
    ],
)
def test_a_wrong_properties_file_is_told(
    land: Land, settings: Callable[[str], Path], text: str, reason: str
) -> None:
    result = land("shop", "--properties", settings(text))

    assert result.exit_code == 1
    assert reason in result.stderr
    assert PASSWORD not in result.output


def test_no_piece_of_a_secret_is_told() -> None:
    given = {
        "sasl.jaas.config": 'a.B required username=cdc password="s3cr#t w0rd";',
        "ssl.key.password": "hunter2",
        "security.protocol": "SASL_SSL",
    }

    output = without_secrets("no value for s3cr in w0rd, of hunter2, with SASL_SSL", given)

    assert output == "no value for *** in ***, of ***, with SASL_SSL"


def test_use_that_is_wrong_says_so_before_spark_starts(tmp_path: Path) -> None:
    def fails(topics: str, servers: str, *options: object) -> str:
        where = ("--topics", topics, "--bootstrap-servers", servers)
        command = ("land", "kafka", "--format", "canal_json", *where, *options)
        result = run_command(*command)
        assert result.exit_code == 2
        return " ".join(result.stderr.replace("│", "").split())

    def mapped(*options: str) -> str:
        (tmp_path / "topics.yml").write_text("topics: {a: canal_json}")
        command = ["land", "kafka", "--map", str(tmp_path / "topics.yml"), *options]
        result = run_command(*command)
        assert result.exit_code == 2
        return " ".join(result.stderr.replace("│", "").split())

    assert "--topics needs names" in fails("a,,b", "h:1")
    assert "needs HOST:PORT" in fails("a", "h:1,h")
    assert "does not exist" in fails("a", "h:1", "--properties", tmp_path / "nope")
    assert "--max-messages" in fails("a", "h:1", "--max-messages", 0)
    assert "it has local, demo" in fails("a", "h:1", "--target", "moon")
    assert "--topics goes with --format" in mapped("--topics", "a", "--bootstrap-servers", "h:1")
    assert "--bootstrap-servers is missing" in mapped()


@pytest.mark.thorough
def test_the_command_brings_its_jars(kafka: Kafka, tmp_path: Path) -> None:
    kafka.create_topic("shop")
    kafka.produce("shop", *messages(b"a"))

    done = finished(
        *(program("cdc-marts"), "land", "kafka", "--format", "canal_json", "--topics", "shop"),
        *("--bootstrap-servers", kafka.address, "--target", "demo"),
        cwd=ROOT,
        CDC_MARTS_HOME=str(tmp_path),
        CDC_MARTS_DRIVER_MEMORY="1g",
    )

    assert "shop, partition 0: 1 message, offsets 0 to 0" in done.stdout
    assert done.stderr == ""
