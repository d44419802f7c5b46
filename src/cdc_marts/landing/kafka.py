"""Landing of Kafka topics, from the last landed offset on."""

from __future__ import annotations

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.spark_session.api import SPARK_ERRORS
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.landing import LandingError
from cdc_marts.landing.envelopes import MAX_TIMESTAMP, MIN_TIMESTAMP, NO_TIMESTAMP
from cdc_marts.landing.kafka_broker import Broker, KafkaTopic
from cdc_marts.landing.kafka_offsets import LandedOffsets
from cdc_marts.landing.kafka_ranges import (
    EARLIEST,
    Ranges,
    Start,
    bounded,
    check_topics,
    new_ranges,
    shown_offsets,
    size_of,
)
from cdc_marts.landing.kafka_settings import client_settings
from cdc_marts.landing.outcome import Landing, Partition
from cdc_marts.landing.tables import create_landing_table
from cdc_marts.landing.topic_map import SKIP, TopicMap
from cdc_marts.relations import OWN, Relations

#: The jars of Spark's Kafka source.
PACKAGES = (
    # As for the other jars of the profile, one version serves all of PySpark 4.1.
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.1",
    # 4.1 is not in every mirror of Maven Central, and only matters for delegation tokens.
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.1",
)

#: Spark's Kafka source counts microseconds, also for a time that is too late for them.
_OVERFLOW = "java.lang.ArithmeticException: long overflow"

#: How many messages are worth a task of their own, and a file of their own.
_TASK_SIZE, _FILE_SIZE = 10_000, 100_000


@dataclass(frozen=True)
class Subscription:
    """The topics of a Kafka cluster that land, and how."""

    #: `host:port,…`
    servers: str
    topics: TopicMap
    #: whether every named topic must exist
    is_strict: bool = True
    #: a file of client settings
    properties: Path | None = None
    #: where topics begin that never landed
    start: Start = EARLIEST
    #: whether to resume after messages that Kafka deleted before they landed
    skip_lost: bool = False
    #: whether topics were moved here with their offsets
    moved: bool = False
    #: the most offsets to read; None for all
    max_messages: int | None = None


def land_kafka(
    session: SparkSession,
    subscription: Subscription,
    report: Callable[[str], None] = lambda _: None,
    relations: Relations = OWN,
) -> Iterator[Landing]:
    """Append the new messages of topics to the landing tables of their formats.

    The session needs `PACKAGES`. A partition resumes after its highest landed offset. Offsets
    without a message are normal.

    Raise `LandingError` if Kafka deleted messages before they landed, unless `skip_lost`. Raise it
    also if a topic is not the one that landed before, unless it was `moved` with its offsets, and
    if Kafka does not answer. Nothing has landed then.

    A format is one commit, and lands when its outcome is asked for: if the process is killed, all
    messages of a format have landed or none. The next landing does the rest. If Spark can't read
    the time of a message, its partition lands up to this message, all others land, and
    `LandingError` comes after the last format. `report` is called with sentences for the user.
    """
    settings, unused = client_settings(session, subscription.properties)
    if unused:
        report(
            f"The command sets these settings of {subscription.properties} itself, or Kafka's"
            f" client does not know them: {', '.join(unused)}."
        )
    with Broker(session, subscription.servers, settings) as broker:
        found = _topics_by_format(broker, subscription, report)
        _report_compacted(broker, [name for topics in found.values() for name in topics], report)
        readings = [
            _Reading(session, broker, relations, source_format, topics, subscription, report)
            for source_format, topics in found.items()
        ]
    _bound(readings, subscription.max_messages)
    return _land_all(readings, settings)


def _land_all(readings: Iterable[_Reading], settings: Mapping[str, str]) -> Iterator[Landing]:
    """Yield the landing of each format that landed, or that has nothing new.

    Raise `LandingError` at the end if partitions landed only up to an unreadable message.
    """
    unreadable: dict[Partition, int] = {}
    for reading in readings:
        found = reading.land(settings)
        unreadable.update(found)
        if reading.landing.messages or not found:
            yield reading.landing
    if unreadable:
        raise LandingError(
            "The landing stopped before messages whose times are too late for Spark, perhaps"
            f" because they have nanoseconds instead of milliseconds: {shown_offsets(unreadable)}."
            " Land these messages by `cdc-marts land files`, in envelopes with their offsets. The"
            " next landing from Kafka resumes after them. If new messages would have such times"
            " too, set message.timestamp.type=LogAppendTime for the topic."
        )


def _topics_by_format(
    broker: Broker, subscription: Subscription, report: Callable[[str], None]
) -> dict[str, dict[str, KafkaTopic]]:
    """Return format -> its topics that exist, including the topics that fit a pattern."""
    topics = subscription.topics
    fitting = broker.topic_names() if topics.patterns else []
    names = [name for name in fitting if topics.format_of(name) not in (None, SKIP)]
    found = broker.topics([*dict.fromkeys((*topics.names, *names))])
    unknown = sorted(set(topics.names) - set(found))
    said = f"{subscription.servers} has no topic {', '.join(unknown)}."
    if unknown and subscription.is_strict:
        raise LandingError(f"{said} Check --topics and --bootstrap-servers.")
    if not found:
        raise LandingError(
            f"{subscription.servers} has none of the topics that {topics.source} names. Check the"
            " names, and --bootstrap-servers."
        )
    if unknown:
        report(f"{said} A later landing finds it when it exists.")
    by_format: dict[str, dict[str, KafkaTopic]] = defaultdict(dict)
    for name, topic in found.items():
        by_format[topics.format_of(name) or SKIP][name] = topic
    return by_format


def _report_compacted(broker: Broker, topics: Iterable[str], report: Callable[[str], None]) -> None:
    if compacted := sorted(broker.compacted(topics)):
        report(
            f"Kafka compacts {', '.join(compacted)}: it removes a message if a later one has the"
            " same key. If it removes a delete before this lands, the row stays in the marts. Set"
            " cleanup.policy=delete, or set min.compaction.lag.ms to more than the time between two"
            " landings."
        )


def _bound(readings: Sequence[_Reading], most: int | None) -> None:
    """Reduce the ranges of the readings to `most` offsets in all."""
    if most is None:
        return
    ranges = {
        partition: range_ for reading in readings for partition, range_ in reading.ranges.items()
    }
    cut = bounded(ranges, most)
    for reading in readings:
        left = {partition: cut[partition] for partition in reading.ranges}
        reading.landing.waiting = size_of(reading.ranges) - size_of(left)
        reading.ranges = left


class _Reading:
    """The reading of messages for the landing table of a format."""

    def __init__(
        self,
        session: SparkSession,
        broker: Broker,
        relations: Relations,
        source_format: str,
        topics: Mapping[str, KafkaTopic],
        subscription: Subscription,
        report: Callable[[str], None],
    ) -> None:
        table = relations.landed(source_format)
        create_landing_table(session, table)
        self.landing = Landing(source_format, table, topics=list(topics))
        self._session, self._servers = session, subscription.servers
        topic_ids = {name: topic.id for name, topic in topics.items()}
        self._offsets = LandedOffsets(session, table, topic_ids, subscription.moved)
        if not subscription.moved:
            check_topics(topics, self._offsets, table)
        self.ranges = new_ranges(
            broker, topics, self._offsets, subscription.skip_lost, report, subscription.start
        )

    def land(self, settings: Mapping[str, str]) -> dict[Partition, int]:
        """Land each partition up to its first message whose time Spark can't read.

        Return the offsets of these messages. They have not landed.
        """
        try:
            self._land(settings)
        except SPARK_ERRORS as error:
            if _OVERFLOW not in str(error):
                raise
        else:
            return {}
        unreadable = self._unreadable(settings)
        for partition, offset in unreadable.items():
            self.ranges[partition] = self.ranges[partition][0], offset
        self._land(settings)
        return unreadable

    def _land(self, settings: Mapping[str, str]) -> None:
        messages = _messages(self._session, self._servers, settings, self.ranges)
        if messages is not None:
            # After a kill, the rows alone do not show where other partitions begin.
            begins = {partition: begin for partition, (begin, _) in self.ranges.items()}
            self._offsets.keep(begins, {})
            _append(messages, self.ranges, self.landing)
        read_to = {partition: end for partition, (_, end) in self.ranges.items()}
        self._offsets.keep(read_to, self.landing.offsets)

    def _unreadable(self, settings: Mapping[str, str]) -> dict[Partition, int]:
        """Return partition -> offset of its first message whose time Spark can't read."""

        def can_read(partition: Partition, start: int, end: int) -> bool:
            range_ = {partition: (start, end)}
            try:
                messages = _messages(self._session, self._servers, settings, range_)
                if messages is not None:
                    messages.count()
            except SPARK_ERRORS as error:
                if _OVERFLOW in str(error):
                    return False
                raise
            return True

        unreadable = {}
        for partition, (start, end) in self.ranges.items():
            if can_read(partition, start, end):
                continue
            while end - start > 1:
                middle = (start + end) // 2
                if can_read(partition, start, middle):
                    start = middle
                else:
                    end = middle
            unreadable[partition] = start
        return unreadable


def _messages(
    session: SparkSession, servers: str, settings: Mapping[str, str], ranges: Ranges
) -> DataFrame | None:
    """Return the messages in `ranges`, as Spark's Kafka source has them; None if there are none."""
    ranges = {partition: (start, end) for partition, (start, end) in ranges.items() if start < end}
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
        # A task reads one partition after the other, so `isEmpty` reads only the first message.
        .coalesce(tasks)
    )
    # There may be no message at all: transactions take offsets, and compaction removes messages.
    return None if messages.isEmpty() else messages


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
