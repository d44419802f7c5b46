"""Landing of messages that were read from files, one commit per format.

Bare messages have no coordinates, so a message that lands again looks like a new one. Therefore the
commit notes in its summary which files it contains:

    cdc-marts.bare-files = <digest> <digest> …
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import reduce

import pyarrow as pa
from dbt.adapters.spark_session.api import iceberg_table, snapshots
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.identifying_columns import COORDINATES
from cdc_marts.landing import LandingError
from cdc_marts.landing.envelopes import MAX_OFFSET
from cdc_marts.landing.outcome import Landing
from cdc_marts.landing.spool import BARE_PARTITION, BareFile, SpooledMessages
from cdc_marts.landing.tables import create_landing_table, highest_offsets
from cdc_marts.offset_ranges import OffsetRange, within
from cdc_marts.relations import OWN, Relations

_BARE_FILES = "cdc-marts.bare-files"


def land_files(
    session: SparkSession,
    messages: SpooledMessages,
    relations: Relations = OWN,
    check_turn: Callable[[], None] = lambda: None,
    again: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> Iterator[Landing]:
    """Append messages to the landing tables of their formats, and yield each landing.

    Bare messages take the next offsets of their topic. Nothing else may land in this topic
    meanwhile: `check_turn` is called before each commit, and raises if something may. Raise
    `LandingError`, before anything lands, if it has too few offsets left.

    A format is one commit: if the process is killed, all messages of a format have landed or none.
    A file of bare messages that has landed before, with the same name and messages, is left out,
    unless `again`. `report` is called with sentences for the user.
    """
    landings = []
    for source_format in messages.formats:
        table = relations.landed(source_format)
        create_landing_table(session, table)
        landed = set() if again else _landed_bare_files(session, table)
        landings.append(_FormatLanding(session, source_format, table, messages, landed))
    for landing in landings:
        for file in landing.left_out:
            report(
                f"{file.name} is left out: a file with this name and these messages has landed. To"
                " land it again, use `cdc-marts land files --again`."
            )
    for landing in landings:
        if landing.has_messages:
            yield landing.land(check_turn)


def _landed_bare_files(session: SparkSession, table: str) -> set[str]:
    """Return the digests of the files of bare messages that the snapshots of `table` note."""
    notes = (
        snapshot.summary.get(_BARE_FILES, "")
        for snapshot in snapshots(session, iceberg_table(session, table))
    )
    return {digest for note in notes for digest in note.split()}


class _FormatLanding:
    """The landing of the messages of one format."""

    def __init__(
        self,
        session: SparkSession,
        source_format: str,
        table: str,
        messages: SpooledMessages,
        landed_bare_files: Collection[str],
    ) -> None:
        self._session, self._messages = session, messages
        self._format = source_format
        self._landing = Landing(source_format, table)
        self._bare_topics = [topic for name, topic in messages.bare if name == source_format]
        self._left_out = {
            topic: [
                file
                for file in messages.bare_files[source_format, topic]
                if file.digest in landed_bare_files
            ]
            for topic in self._bare_topics
        }
        enveloped = messages.offsets.get(source_format, {})
        topics = sorted({*self._bare_topics, *(topic for topic, _ in enveloped)})
        self._highest = highest_offsets(session, self._landing.table, topics)
        for partition, count in messages.counts[source_format].items():
            self._landing.add(partition, *enveloped[partition], count)
        self._bare_firsts = {topic: self._count_bare(topic) for topic in self._bare_topics}

    @property
    def left_out(self) -> list[BareFile]:
        """The files of bare messages that have landed before."""
        return [file for files in self._left_out.values() for file in files]

    @property
    def has_messages(self) -> bool:
        return bool(self._landing.messages)

    def land(self, check_turn: Callable[[], None]) -> Landing:
        chunks = list(self._staged())
        # One file per chunk: Spark would write one per batch of rows.
        rows = reduce(DataFrame.union, chunks).coalesce(len(chunks))
        self._landing.repeated = self._count_repeated(rows)
        writer = rows.withColumn("landed_at", F.current_timestamp()).writeTo(self._landing.table)
        if digests := self._digests():
            writer = writer.option(f"snapshot-property.{_BARE_FILES}", " ".join(digests))
        check_turn()
        writer.append()
        return self._landing

    def _digests(self) -> list[str]:
        """Return the digests of the files of bare messages that land."""
        return [
            file.digest
            for topic in self._bare_topics
            for file in self._messages.bare_files[self._format, topic]
            if file not in self._left_out[topic]
        ]

    def _count_bare(self, topic: str) -> int:
        """Count the bare messages of a topic that land, and return the offset of the first."""
        partition = topic, BARE_PARTITION
        _, enveloped = self._landing.offsets.get(partition, (0, -1))
        first = max(self._highest.get(partition, -1), enveloped) + 1
        count = self._messages.bare_counts[self._format, topic]
        count -= sum(file.end - file.begin for file in self._left_out[topic])
        if not count:
            return first
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
            offset = first
            for chunk in self._messages.bare[self._format, topic].chunks():
                table = _without(chunk, self._left_out[topic])
                if not table.num_rows:
                    continue
                index = table.schema.get_field_index("offset")
                offsets = pa.array(range(offset, offset + table.num_rows), pa.int64())
                yield table.set_column(index, table.schema.field(index), offsets)
                offset += table.num_rows

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


def _without(chunk: pa.Table, files: Sequence[BareFile]) -> pa.Table:
    """Return the bare messages of a chunk that are not from `files`, which have their order."""
    first = chunk["offset"][0].as_py()
    pieces, done = [], 0
    for file in files:
        begin, end = (
            min(max(place - first, done), chunk.num_rows) for place in (file.begin, file.end)
        )
        pieces.append(chunk.slice(done, begin - done))
        done = end
    return pa.concat_tables([*pieces, chunk.slice(done)])
