"""The landing of the messages of a workload."""

from __future__ import annotations

import math
from dataclasses import replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.messages import encode
from benchmarks.workload import Workload, change_of, changes
from cdc_marts.relations import OWN

TOPIC = "shop-changes"
#: A change has at most three messages, with adjacent offsets.
_MESSAGES_OF_CHANGE = 3
_PARTITIONS = 4
#: Approximate bytes of a landing file, as from a job that lands now and then.
_FILE_BYTES = 256 * 2**20
_SAMPLE = 2000


def land(session: SparkSession, source_format: str, workload: Workload, first: int = 0) -> int:
    """Append a workload's messages to the landing table, and return their number.

    `first`: the number of the first change, to continue another workload.
    """
    table = OWN.landed(source_format)
    fewest = session.sparkContext.defaultParallelism
    tasks = max(fewest, math.ceil(workload.changes * workload.message_bytes / _FILE_BYTES))
    length = _note_length(session, source_format, workload)
    messages = _messages(session, source_format, workload, length, first, tasks)
    before = session.table(table).count()
    messages.writeTo(table).append()
    return session.table(table).count() - before


def _note_length(session: SparkSession, source_format: str, workload: Workload) -> int:
    """Return the length of notes for messages of the wanted size, which grows with it evenly."""
    sample = replace(workload, changes=_SAMPLE)
    # The sample is of later rounds: the messages of the first round are inserts.
    first = workload.keys * 2

    def mean_bytes(length: int) -> float:
        messages = _messages(session, source_format, sample, length, first, 1)
        [(mean,)] = messages.agg(F.avg(F.length("value"))).collect()
        return mean

    empty, filled = mean_bytes(0), mean_bytes(1000)
    return max(0, round((workload.message_bytes - empty) / (filled - empty) * 1000))


def _messages(
    session: SparkSession,
    source_format: str,
    workload: Workload,
    note_length: int,
    first: int,
    tasks: int,
) -> DataFrame:
    """Return messages in the shape of the landing table."""
    change = change_of(workload)
    structs = [
        F.struct(
            F.lit(part).alias("part"),
            _binary(message.key).alias("key"),
            _binary(message.value).alias("value"),
            F.lit(True if message.is_published is None else message.is_published).alias(
                "is_published"
            ),
        )
        for part, message in enumerate(encode(source_format, change))
    ]
    made_at = F.timestamp_millis(change.published_at)
    messages = changes(session, workload, note_length, first, tasks)
    if len(structs) == 1:
        messages = messages.select("*", structs[0].alias("message"))
    else:
        messages = messages.select("*", F.explode(F.array(*structs)).alias("message"))
        messages = messages.where("message.is_published")
    return messages.select(
        F.lit(TOPIC).alias("topic"),
        (F.col("row") % _PARTITIONS).cast("int").alias("partition"),
        _offset(F.col("message.part")).alias("offset"),
        made_at.alias("timestamp"),
        F.col("message.key").alias("key"),
        F.col("message.value").alias("value"),
        made_at.alias("landed_at"),
    )


def _offset(part: Column) -> Column:
    """Return an offset. A redelivery follows the messages of the change that triggers it."""
    delivery, number = F.col("delivery"), F.col("number")
    place = 2 * delivery + (delivery != number).cast("bigint")
    return place * _MESSAGES_OF_CHANGE + part


def _binary(content: Column | None) -> Column:
    return (F.lit(None) if content is None else content).cast("binary")
