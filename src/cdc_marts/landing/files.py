"""Files of messages -> a landing table, all of one command in one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.landing import LandingError
from cdc_marts.landing.envelopes import (
    MAX_OFFSET,
    Message,
    WrongEnvelope,
    read_envelope,
)
from cdc_marts.landing.lines import Advance, lines_of, name_of
from cdc_marts.landing.outcome import Landing
from cdc_marts.landing.tables import create_landing_table, highest_offsets
from cdc_marts.relations import OWN, Relations

#: Where bare messages go.
BARE_PARTITION = 0

#: Bytes of messages that are held in memory at a time.
CHUNK_SIZE = 64 << 20
_ROW_OVERHEAD = 100

_SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", pa.timestamp("ms", tz="UTC")),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
    ]
)

#: Called with where a wrong line stands (`file:line`) and what is wrong with it.
Report = Callable[[str, str], None]


def land_files(
    session: SparkSession,
    source_format: str,
    paths: Sequence[Path],
    topic: str | None = None,
    report: Report = lambda *_: None,
    advance: Advance = lambda _: None,
    relations: Relations = OWN,
) -> Landing:
    """Append the messages of `paths` to the landing table of `source_format`.

    Without `topic` the lines are envelopes: wrong ones are reported and left
    out.  With it each line is a message of that topic, whose offsets go on
    from those it has; nothing else may land in the topic meanwhile.

    It is one commit: a kill, or a file that can't be read to its end
    (`LandingError`), leaves the table as it was.
    """
    landing = Landing(relations.landed(source_format))
    create_landing_table(session, landing.table)
    if topic is None:
        messages = _enveloped(paths, landing, report, advance)
    else:
        landed = highest_offsets(session, landing.table, [topic])
        messages = _bare(paths, topic, landed.get((topic, BARE_PARTITION), -1) + 1, advance)
    rows = _staged(session, _counted(messages, landing))
    if rows is not None:
        rows.withColumn("landed_at", F.current_timestamp()).writeTo(landing.table).append()
    return landing


def _enveloped(
    paths: Iterable[Path], landing: Landing, report: Report, advance: Advance
) -> Iterator[Message]:
    for path in paths:
        for number, line in lines_of(path, advance):
            try:
                yield read_envelope(line)
            except WrongEnvelope as error:
                landing.wrong_lines += 1
                report(f"{name_of(path)}:{number}", str(error))


def _bare(paths: Iterable[Path], topic: str, first: int, advance: Advance) -> Iterator[Message]:
    offset = first
    for path in paths:
        for _, line in lines_of(path, advance):
            if offset > MAX_OFFSET:
                raise LandingError(f"The topic {topic!r} has no offset left after {MAX_OFFSET}.")
            yield Message(topic, BARE_PARTITION, offset, None, None, line)
            offset += 1


def _counted(messages: Iterable[Message], landing: Landing) -> Iterator[Message]:
    for message in messages:
        landing.add((message.topic, message.partition), message.offset, message.offset)
        yield message


def _staged(session: SparkSession, messages: Iterable[Message]) -> DataFrame | None:
    """The messages as one DataFrame; None where there are none.

    What is more than a chunk waits on the disks of Spark's executors, not in
    memory, and on a cluster not on this machine.
    """
    staged: list[DataFrame] = []
    rows, size = [], 0
    for message in messages:
        rows.append(message)
        size += len(message.value or b"") + len(message.key or b"") + _ROW_OVERHEAD
        if size >= CHUNK_SIZE:
            chunk = _data_frame(session, rows)
            staged.append(chunk.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY))
            rows, size = [], 0
    if rows:
        staged.append(_data_frame(session, rows))
    if not staged:
        return None
    # A file a chunk: Spark would write one for every batch of a chunk's rows.
    return reduce(DataFrame.union, staged).coalesce(len(staged))


def _data_frame(session: SparkSession, rows: Sequence[Message]) -> DataFrame:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _SCHEMA.types, strict=True)]
    return session.createDataFrame(pa.Table.from_arrays(arrays, schema=_SCHEMA))
