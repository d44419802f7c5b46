"""Topics of a Kafka cluster -> a landing table, from the last landed offset on."""

from __future__ import annotations

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.landing.envelopes import MAX_TIMESTAMP, MIN_TIMESTAMP, NO_TIMESTAMP
from cdc_marts.landing.kafka_broker import Broker
from cdc_marts.landing.kafka_positions import Positions
from cdc_marts.landing.kafka_ranges import Ranges, bounded, check_topics, new_ranges, size_of
from cdc_marts.landing.kafka_settings import client_settings
from cdc_marts.landing.outcome import Landing
from cdc_marts.landing.tables import create_landing_table
from cdc_marts.relations import OWN, Relations

#: The jars of Spark's Kafka source.
PACKAGES = (
    # As the other jars of the profile: one version for all of PySpark 4.1.
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.1",
    # 4.1 is not in every mirror of Maven Central, and matters for delegation tokens only.
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.1",
)

#: Messages that are worth a task of their own, and those that are a file of their own.
_TASK_SIZE, _FILE_SIZE = 10_000, 100_000


def land_kafka(
    session: SparkSession,
    source_format: str,
    servers: str,
    topics: Sequence[str],
    properties: Path | None = None,
    skip_lost: bool = False,
    moved: bool = False,
    max_messages: int | None = None,
    report: Callable[[str], None] = lambda _: None,
    relations: Relations = OWN,
) -> Landing:
    """Append what is new in `topics` to the landing table of `source_format`.

    The session needs `PACKAGES`.  `servers`: `host:port,…`.  `properties`: file
    of client settings.  A partition begins after its highest landed offset,
    else at its first message; offsets that hold no message are normal.

    `LandingError` where Kafka has deleted messages that were to be landed,
    unless `skip_lost`; where a topic is not the one that was landed, unless it
    was `moved` with its offsets; and where Kafka can't be asked.

    It is one commit: a kill before it leaves the table as it was, after it the
    next landing goes on behind.  `report` is told what a person should know.
    """
    landing = Landing(relations.landed(source_format))
    create_landing_table(session, landing.table)
    settings, unused = client_settings(session, properties)
    if unused:
        report(f"{properties} sets what changes nothing here: {', '.join(unused)}.")
    with Broker(session, servers, settings) as broker:
        found = broker.topics(topics)
        positions = Positions(session, landing.table, list(found))
        if not moved:
            check_topics(found, positions, landing.table)
        new = new_ranges(broker, found, positions, skip_lost, report)
    ranges = new if max_messages is None else bounded(new, max_messages)
    landing.waiting = size_of(new) - size_of(ranges)
    messages = _messages(session, servers, settings, ranges)
    if messages is not None:
        _append(messages, ranges, landing)
    topic_ids = {name: topic.id for name, topic in found.items()}
    positions.keep(topic_ids, {place: end for place, (_, end) in ranges.items()}, landing.offsets)
    return landing


def _messages(
    session: SparkSession, servers: str, settings: Mapping[str, str], ranges: Ranges
) -> DataFrame | None:
    """The messages in `ranges`, in the shape of Spark's Kafka source; None where there are none."""
    ranges = {place: (start, end) for place, (start, end) in ranges.items() if start < end}
    if not ranges:
        return None
    count = size_of(ranges)
    tasks = min(session.sparkContext.defaultParallelism, _pieces(count, _TASK_SIZE))
    tasks = max(tasks, _pieces(count, _FILE_SIZE))
    starts: dict[str, dict[int, int]] = defaultdict(dict)
    ends: dict[str, dict[int, int]] = defaultdict(dict)
    for (topic, partition), (start, end) in ranges.items():
        starts[topic][partition], ends[topic][partition] = start, end
    messages = (
        session.read.format("kafka")
        .options(**{f"kafka.{name}": value for name, value in settings.items()})
        .option("kafka.bootstrap.servers", servers)
        .option("assign", json.dumps({topic: list(offsets) for topic, offsets in starts.items()}))
        .option("startingOffsets", json.dumps(starts))
        .option("endingOffsets", json.dumps(ends))
        .option("minPartitions", tasks)
        .load()
    )
    # Offsets may be those of transactions, or of messages that compaction removed.
    return None if messages.isEmpty() else messages.coalesce(tasks)


def _append(messages: DataFrame, ranges: Ranges, landing: Landing) -> None:
    landed_at = F.lit(dt.datetime.now(dt.timezone.utc))
    millis = F.unix_millis("timestamp")
    is_time = (millis != NO_TIMESTAMP) & millis.between(MIN_TIMESTAMP, MAX_TIMESTAMP)
    messages.select(
        "topic",
        "partition",
        "offset",
        F.when(is_time, F.col("timestamp")).alias("timestamp"),
        "key",
        "value",
        landed_at.alias("landed_at"),
    ).writeTo(landing.table).append()
    landed = (
        messages.sparkSession.table(landing.table)
        .where((F.col("landed_at") == landed_at) & F.col("topic").isin(*{t for t, _ in ranges}))
        .groupBy("topic", "partition")
        .agg(F.min("offset"), F.max("offset"), F.count("*"))
    )
    for topic, partition, first, last, count in landed.collect():
        landing.add((topic, partition), first, last, count)


def _pieces(count: int, size: int) -> int:
    return -(-count // size)
