"""Topics of a Kafka cluster -> a landing table, from the last landed offset on."""

from __future__ import annotations

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.landing import LandingError
from cdc_marts.landing.envelopes import MAX_TIMESTAMP, MIN_TIMESTAMP, NO_TIMESTAMP
from cdc_marts.landing.kafka_broker import Broker, Topic
from cdc_marts.landing.kafka_positions import Positions
from cdc_marts.landing.kafka_settings import client_settings
from cdc_marts.landing.outcome import Landing, Place
from cdc_marts.landing.tables import create_landing_tables, landing_table

#: The jars of Spark's Kafka source.
PACKAGES = (
    f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}",
    # The latest that all mirrors of Maven Central have; it differs in words that it logs.
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.1",
)

#: Messages that are worth a task of their own, and those that are a file of their own.
_TASK_SIZE, _FILE_SIZE = 10_000, 100_000
_MOST_SHOWN = 20

#: First offset and the one after the last, by topic and partition.
Ranges = dict[Place, tuple[int, int]]


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
    landing = Landing(landing_table(source_format))
    create_landing_tables(session, [source_format])
    settings, unused = client_settings(session, properties)
    if unused:
        report(f"{properties} sets what changes nothing here: {', '.join(unused)}.")
    with Broker(session, servers, settings) as broker:
        found = broker.topics(topics)
        positions = Positions(session, landing.table, list(found))
        if not moved:
            _check_topics(found, positions, landing.table)
        ranges = _new_offsets(broker, found, positions, skip_lost, report)
    ranges = _bounded(ranges, max_messages, landing)
    messages = _messages(session, servers, settings, ranges)
    if messages is not None:
        _append(messages, ranges, landing)
    topic_ids = {name: topic.id for name, topic in found.items()}
    positions.keep(topic_ids, {place: end for place, (_, end) in ranges.items()}, landing.offsets)
    return landing


def _check_topics(found: Mapping[str, Topic], positions: Positions, table: str) -> None:
    for name, topic in found.items():
        if positions.is_other_topic(name, topic.id):
            raise LandingError(
                f"The topic {name} is another one than that in {table}: it was deleted and created"
                " anew, or this is another cluster. Its messages would count as those landed"
                " before, which have the same topic, partition and offset: publish them to a topic"
                " of another name. If it was moved with its offsets, --moved goes on."
            )


def _new_offsets(
    broker: Broker,
    found: Mapping[str, Topic],
    positions: Positions,
    skip_lost: bool,
    report: Callable[[str], None],
) -> Ranges:
    """What is to be read of every partition: maybe nothing."""
    places = [(name, partition) for name, topic in found.items() for partition in topic.partitions]
    firsts, ends = broker.first_offsets(places), broker.end_offsets(places)
    starts = {place: positions.next_offset(place) for place in places}
    _check_ends(broker, starts, ends)

    cut = {p: firsts[p] for p in places if starts[p] is None and firsts[p] > 0}
    if cut:
        shown = _list(f"{_name(place)}, before offset {first}" for place, first in cut.items())
        report(f"Kafka has deleted the first messages of {shown}.")
    lost = {
        place: firsts[place] - start
        for place, start in starts.items()
        if start is not None and start < firsts[place]
    }
    if lost:
        shown = _list(
            f"{_name(place)}, {count:,} offset{'' if count == 1 else 's'} from {starts[place]}"
            for place, count in lost.items()
        )
        said = f"Kafka has deleted messages that were not landed: {shown}."
        if not skip_lost:
            raise LandingError(f"{said} --skip-lost lands what is left.")
        report(said)
    begins = {place: max(firsts[place], starts[place] or 0) for place in places}
    return {place: (begins[place], max(begins[place], ends[place])) for place in places}


def _check_ends(
    broker: Broker, starts: Mapping[Place, int | None], ends: Mapping[Place, int]
) -> None:
    beyond = {place: start for place, start in starts.items() if (start or 0) > ends[place]}
    # Of a transaction that is open, messages may be landed: with another isolation level.
    ends = broker.next_offsets(beyond) if beyond else {}
    beyond = {place: start for place, start in beyond.items() if start > ends[place]}
    if beyond:
        shown = _list(
            f"{_name(place)} is landed up to offset {start - 1}, and Kafka has it up to"
            f" {ends[place] - 1}"
            if ends[place]
            else f"{_name(place)} is landed up to offset {start - 1}, and Kafka has none of it"
            for place, start in beyond.items()
        )
        raise LandingError(
            f"{shown}: the topic was deleted and created anew, or a broker lost messages, or others"
            " were landed under its name. New messages would count as those landed before, which"
            " have the same topic, partition and offset: publish them to a topic of another name."
        )


def _bounded(ranges: Ranges, max_messages: int | None, landing: Landing) -> Ranges:
    """The ranges, cut to `max_messages` offsets in all; what is left over waits."""
    if max_messages is None:
        return ranges
    bounded, left = {}, max_messages
    by_size = sorted(ranges.items(), key=lambda item: item[1][1] - item[1][0])
    for number, (place, (start, end)) in enumerate(by_size):
        # Equal shares; what small ones leave goes to the others.
        size = min(end - start, left // (len(ranges) - number))
        bounded[place] = (start, start + size)
        landing.waiting += end - start - size
        left -= size
    return bounded


def _messages(
    session: SparkSession, servers: str, settings: Mapping[str, str], ranges: Ranges
) -> DataFrame | None:
    """The messages in `ranges`, in the shape of Spark's Kafka source; None where there are none."""
    ranges = {place: (start, end) for place, (start, end) in ranges.items() if start < end}
    if not ranges:
        return None
    count = sum(end - start for start, end in ranges.values())
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


def _name(place: Place) -> str:
    return f"{place[0]}, partition {place[1]}"


def _list(items: Iterable[str]) -> str:
    items = list(items)
    more = len(items) - _MOST_SHOWN
    return "; ".join(items[:_MOST_SHOWN]) + (f"; and {more:,} partitions more" if more > 0 else "")
