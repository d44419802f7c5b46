"""Exact increments: what was appended to a table since a consumer last read it.

A consumer keeps the snapshot up to which it has read each input among the
properties of its own snapshots (`read-up-to.<input>`), so data and watermark
are one commit: a kill leaves both or neither.  Neither clocks nor the order of
arrival play a part.  Snapshots that only rewrite files (compaction) hold no
new rows.  Tables are Iceberg tables; a view is read through its tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.spark_session.catalog import iceberg_table, view_query

WATERMARK = "read-up-to."
SNAPSHOT_PROPERTY = "spark.sql.iceberg.snapshot-property."

#: How the text of a view names what it reads; dbt writes these names.
_REFERENCE = re.compile(r"(?P<keyword>\b(?:from|join)\s+)(?P<name>\w+\.\w+)\b", re.IGNORECASE)

#: Operations of snapshots that bring no new rows: compaction, and deletes.
_WITHOUT_NEW_ROWS = ("replace", "delete")


class NothingNew(Exception):
    """No input has rows that the consumer has not read."""


@dataclass
class Reading:
    """What one run of a consumer reads: per input table, up to which snapshot."""

    up_to: dict[str, int] = field(default_factory=dict)
    has_new_rows: bool = False
    #: the consumer is built anew, although it is there
    is_rebuild: bool = False
    #: condition of the consumer's own rows that this run makes anew
    replaced_rows: str | None = None

    @property
    def has_rows(self) -> bool:
        return self.has_new_rows or self.replaced_rows is not None

    def snapshot_properties(self) -> dict[str, str]:
        """The watermarks to commit with the data."""
        return {f"{WATERMARK}{table}": str(snapshot) for table, snapshot in self.up_to.items()}


def new_rows_sql(
    session: SparkSession,
    source: str,
    consumer: str | None,
    reading: Reading,
    read_by: str | None = None,
) -> str:
    """A table expression of the rows of `source` that `consumer` has not read.

    `consumer`: its name, or None to read everything there is.  What is read is
    noted in `reading`.  A view is replaced by its text over the new rows of what
    it reads, which is right for selections and unions, not for joins.

    `read_by`: a table that `consumer` reads too and that was made from `source`.
    The rows are then those behind the new rows of that table: what it had read
    when it wrote them, which may be less than `source` holds by now.
    """
    query = view_query(session, source)
    if query is None:
        if read_by is not None:
            return _rows_behind(session, source, read_by, consumer, reading)
        return _table_sql(session, source, consumer, reading)
    text = _REFERENCE.sub(
        lambda found: (
            found["keyword"] + new_rows_sql(session, found["name"], consumer, reading, read_by)
        ),
        query.strip(),
    )
    return f"({text})"


def read_new_rows(
    session: SparkSession, source: str, consumer: str | None, reading: Reading
) -> DataFrame:
    """`new_rows_sql` as a DataFrame."""
    expression = new_rows_sql(session, source, consumer, reading)
    return session.sql(f"select * from {expression}")


def _table_sql(session: SparkSession, name: str, consumer: str | None, reading: Reading) -> str:
    table = iceberg_table(session, name)
    current = table.currentSnapshot()
    if current is None:
        return _nothing_of(name)
    # A run reads a table up to one snapshot, however often it asks.
    up_to = reading.up_to.setdefault(name, current.snapshotId())
    watermark = _watermark(session, consumer, name) if consumer is not None else None
    if watermark is not None and not _has_appends(table, up_to, watermark, name, str(consumer)):
        return _nothing_of(name)
    reading.has_new_rows = True
    return _appended_rows(name, watermark, up_to)


def _rows_behind(
    session: SparkSession, name: str, read_by: str, consumer: str | None, reading: Reading
) -> str:
    """The rows of `name` that `read_by` had read when it wrote what is new of it to `consumer`."""
    between = iceberg_table(session, read_by)
    current = between.currentSnapshot()
    up_to = reading.up_to.setdefault(read_by, current.snapshotId()) if current else None
    end = _watermark(session, read_by, name, up_to) if up_to is not None else None
    if end is None:
        return _nothing_of(name)
    read = _watermark(session, consumer, read_by) if consumer is not None else None
    start = _watermark(session, read_by, name, read) if read is not None else None
    if start is not None and not _has_appends(
        iceberg_table(session, name), end, start, name, read_by
    ):
        return _nothing_of(name)
    return _appended_rows(name, start, end)


def _appended_rows(name: str, start: int | None, end: int) -> str:
    """What was appended after snapshot `start`, up to `end`; None: all there was."""
    if start is None:
        return f"(select * from {name} version as of {end})"
    # Under a name of its own: Spark resolves a table once a query and drops the options of every
    # further use (SPARK-58330), so that a query over new and all rows would read either twice.
    return (
        f"(select * from {name}.branch_main with (`start-snapshot-id` = '{start}',"
        f" `end-snapshot-id` = '{end}'))"
    )


def _nothing_of(name: str) -> str:
    return f"(select * from {name} where false)"


def _watermark(
    session: SparkSession, consumer: str, source: str, at: int | None = None
) -> int | None:
    """The snapshot of `source` up to which `consumer` has read, by its newest note of it.

    `at`: the snapshot of `consumer` to ask, None for its newest.  None where it
    had never read it.
    """
    table = iceberg_table(session, consumer)
    snapshot, has_notes = table.currentSnapshot() if at is None else table.snapshot(at), False
    while snapshot is not None:
        summary = snapshot.summary()
        noted = summary.get(f"{WATERMARK}{source}")
        if noted is not None:
            return int(noted)
        has_notes = has_notes or any(key.startswith(WATERMARK) for key in summary)
        parent = snapshot.parentId()
        snapshot = table.snapshot(parent) if parent is not None else None
        if snapshot is None and parent is not None and not has_notes:
            raise DbtRuntimeError(
                f"The snapshots that told what {consumer} has read have expired: rebuild it and"
                " what follows it with --full-refresh."
            )
    return None


def _has_appends(table: Any, up_to: int, watermark: int, source: str, consumer: str) -> bool:
    snapshot_id, found = up_to, False
    while snapshot_id != watermark:
        snapshot = table.snapshot(snapshot_id) if snapshot_id is not None else None
        if snapshot is None:
            raise DbtRuntimeError(
                f"{source} was rebuilt, or its snapshots expired, after {consumer} read it: rebuild"
                f" {consumer} and what follows it with --full-refresh."
            )
        operation = snapshot.operation()
        if operation == "append":
            found = found or snapshot.summary().get("added-records") not in (None, "0")
        elif operation not in _WITHOUT_NEW_ROWS:
            raise DbtRuntimeError(
                f"{source} was overwritten (snapshot {snapshot_id}) after {consumer} read it, so"
                f" its new rows can't be told from its old ones: rebuild {consumer} and what"
                " follows it with --full-refresh."
            )
        snapshot_id = snapshot.parentId()
    return found
