"""Landing of messages that were read from files, one commit per format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.identifying_columns import COORDINATES
from cdc_marts.landing import LandingError
from cdc_marts.landing.envelopes import MAX_OFFSET
from cdc_marts.landing.outcome import Landing
from cdc_marts.landing.spool import BARE_PARTITION, SpooledMessages
from cdc_marts.landing.tables import create_landing_table, highest_offsets
from cdc_marts.offset_ranges import OffsetRange, within
from cdc_marts.relations import OWN, Relations


def land_files(
    session: SparkSession,
    messages: SpooledMessages,
    relations: Relations = OWN,
    check_turn: Callable[[], None] = lambda: None,
) -> Iterator[Landing]:
    """Append messages to the landing tables of their formats, and yield each landing.

    Bare messages take the next offsets of their topic. Nothing else may land in this topic
    meanwhile: `check_turn` is called before each commit, and raises if something may. Raise
    `LandingError`, before anything lands, if it has too few offsets left.

    A format is one commit: if the process is killed, all messages of a format have landed or none.
    """
    landings = [
        _FormatLanding(session, source_format, relations.landed(source_format), messages)
        for source_format in messages.formats
    ]
    for landing in landings:
        yield landing.land(check_turn)


class _FormatLanding:
    """The landing of the messages of one format."""

    def __init__(
        self, session: SparkSession, source_format: str, table: str, messages: SpooledMessages
    ) -> None:
        create_landing_table(session, table)
        self._session, self._messages = session, messages
        self._format = source_format
        self._landing = Landing(source_format, table)
        self._bare_topics = [topic for name, topic in messages.bare if name == source_format]
        enveloped = messages.offsets.get(source_format, {})
        topics = sorted({*self._bare_topics, *(topic for topic, _ in enveloped)})
        self._highest = highest_offsets(session, self._landing.table, topics)
        for partition, count in messages.counts[source_format].items():
            self._landing.add(partition, *enveloped[partition], count)
        self._bare_firsts = {topic: self._count_bare(topic) for topic in self._bare_topics}

    def land(self, check_turn: Callable[[], None]) -> Landing:
        chunks = list(self._staged())
        # One file per chunk: Spark would write one per batch of rows.
        rows = reduce(DataFrame.union, chunks).coalesce(len(chunks))
        self._landing.repeated = self._count_repeated(rows)
        check_turn()
        rows.withColumn("landed_at", F.current_timestamp()).writeTo(self._landing.table).append()
        return self._landing

    def _count_bare(self, topic: str) -> int:
        """Count the bare messages of a topic, and return the offset of the first."""
        partition = topic, BARE_PARTITION
        _, enveloped = self._landing.offsets.get(partition, (0, -1))
        first = max(self._highest.get(partition, -1), enveloped) + 1
        count = self._messages.bare_counts[self._format, topic]
        if first + count - 1 > MAX_OFFSET:
            raise LandingError(f"The topic {topic!r} has no offset left after {MAX_OFFSET}.")
        self._landing.add(partition, first, first + count - 1, count)
        return first

    def _staged(self) -> Iterator[DataFrame]:
        """Yield the messages as DataFrames.

        All DataFrames except the last wait on the disks of Spark's executors. So they are not in
        memory and, on a cluster, not on this machine.
        """
        waiting = None
        for table in self._tables():
            if waiting is not None:
                yield waiting.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)
            waiting = self._session.createDataFrame(table)
        if waiting is not None:
            yield waiting

    def _tables(self) -> Iterator[pa.Table]:
        if self._format in self._messages.enveloped:
            yield from self._messages.enveloped[self._format].chunks()
        for topic, first in self._bare_firsts.items():
            for table in self._messages.bare[self._format, topic].chunks():
                index = table.schema.get_field_index("offset")
                offsets = pc.add(table["offset"], pa.scalar(first, pa.int64()))
                yield table.set_column(index, table.schema.field(index), offsets)

    def _count_repeated(self, rows: DataFrame) -> int:
        """Return how many of the messages are already in the landing table."""
        overlaps = [
            OffsetRange(*partition, first, min(last, self._highest[partition]))
            for partition, (first, last) in self._landing.offsets.items()
            if partition in self._highest and first <= self._highest[partition]
        ]
        if not overlaps:
            return 0
        is_overlap = within(overlaps)
        landed = self._session.table(self._landing.table).where(is_overlap).select(*COORDINATES)
        return rows.where(is_overlap).join(landed, list(COORDINATES), "left_semi").count()
