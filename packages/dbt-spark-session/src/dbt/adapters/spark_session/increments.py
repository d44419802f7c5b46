"""Exact increments: what was appended to a table since a consumer last read it.

A consumer keeps the snapshot up to which it has read each input among the
properties of its own snapshots (`read-up-to.<input>`), so data and watermark
are one commit: a kill leaves both or neither.  Neither clocks nor the order of
arrival play a part.  Snapshots that only rewrite files (compaction) hold no
new rows.  Tables are Iceberg tables; a view is read through its tables.

A consumer may read A and also B, which was made from A and may be behind it:
after a kill, or a run of selected models.  It reads A only up to what B had
read, else it would count rows of A as read whose effects on B it never saw.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark_session.catalog import (
    Snapshot,
    has_iceberg_catalog,
    iceberg_table,
    snapshots,
    view_query,
)
from dbt.adapters.spark_session.selections import Source, sources_of
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession

WATERMARK = "read-up-to."
SNAPSHOT_PROPERTY = "spark.sql.iceberg.snapshot-property."

#: Columns of tables that `*` does not have, but a view may name: the lineage of rows.
_HIDDEN_COLUMNS = ("_row_id", "_last_updated_sequence_number")

#: Operations of snapshots that bring no new rows: compaction, and deletes.
_WITHOUT_NEW_ROWS = ("replace", "delete")


#: Noted, or found, where an input had no snapshot yet.
_NOTHING = 0


class NothingNew(Exception):
    """No input has rows that the consumer has not read."""


@dataclass
class Reading:
    """What one run of a consumer reads: per input table, up to which snapshot."""

    up_to: dict[str, int] = field(default_factory=dict)
    #: the incremental models that the consumer reads, itself or through views
    inputs: Collection[str] = ()
    #: up to which snapshot each input may be read, as far as that was asked
    ends: dict[str, int] = field(default_factory=dict)
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


@dataclass(frozen=True)
class Changes:
    """What became of a table that is merged into, or made anew, since a consumer read it.

    Table expressions.  `rows_before`: the rows that it had then; none where the consumer had
    never read it.  `changed_rows`: those of its rows now that were added or updated since.
    """

    rows_before: str
    changed_rows: str


def incremental_inputs(model: Mapping[str, Any], nodes: Mapping[str, Any]) -> list[Any]:
    """The incremental models that a model reads, itself or through views, as dbt's graph has them.

    `nodes`: the nodes of the graph, by their unique ids.
    """
    found, seen, waiting = [], set(), list(model["depends_on"]["nodes"])
    while waiting:
        name = waiting.pop()
        node = nodes.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        if node["config"]["materialized"] == "incremental":
            found.append(node)
        elif node["config"]["materialized"] in ("view", "ephemeral"):
            waiting += node["depends_on"]["nodes"]
    return found


def new_rows_sql(
    session: SparkSession,
    source: str,
    consumer: str | None,
    reading: Reading,
    columns: str = "*",
) -> str:
    """A table expression of the rows of `source` that `consumer` has not read.

    `consumer`: its name, or None to read everything there is.  What is read is
    noted in `reading`.  A view is replaced by its text over the new rows of what
    it selects from.  What it joins is looked up: read whole, and not noted.

    `columns`: of the tables that are read.
    """

    def of_table(name: str, columns: str) -> str:
        return _new_rows_of_table(session, name, consumer, reading, columns)

    return _over_tables(session, source, of_table, columns)


def rows_so_far_sql(
    session: SparkSession, source: str, consumer: str | None, reading: Reading
) -> str:
    """A table expression of the rows of `source` that `consumer` has read when this run ends.

    Those of earlier runs and the new ones, no others: what `source` holds beyond
    that comes as new rows in a later run.
    """

    def of_table(name: str, columns: str) -> str:
        end = _end(session, name, consumer, reading)
        return _appended_rows(session, name, columns, None, end)

    return _over_tables(session, source, of_table, "*")


def _over_tables(
    session: SparkSession, source: str, of_table: Callable[[str, str], str], columns: str
) -> str:
    """A table by `of_table`; a view as its text, over what `of_table` gives for its sources."""
    if not has_iceberg_catalog(session):
        raise DbtRuntimeError(
            f"The new rows of {source} are not known: its catalog is not Iceberg's, whose tables"
            " keep what was appended to them. Read it whole, by `ref` alone."
        )
    query = view_query(session, source)
    if query is None:
        return of_table(source, columns)
    columns = ", ".join(("*", *(name for name in _HIDDEN_COLUMNS if name in query)))
    parts, end = [], 0
    for found in _sources_of_view(source, query):
        rows = _over_tables(session, found.name, of_table, columns)
        parts += [query[end : found.start], rows]
        end = found.end
    return f"({''.join(parts)}{query[end:]})"


def _sources_of_view(name: str, query: str) -> tuple[Source, ...]:
    try:
        return sources_of(query)
    except DbtRuntimeError as error:
        raise DbtRuntimeError(f"{name}: {error.msg}") from error


def read_new_rows(
    session: SparkSession, source: str, consumer: str | None, reading: Reading
) -> DataFrame:
    """`new_rows_sql` as a DataFrame."""
    expression = new_rows_sql(session, source, consumer, reading)
    return session.sql(f"select * from {expression}")


def read_rows_so_far(
    session: SparkSession, source: str, consumer: str | None, reading: Reading
) -> DataFrame:
    """`rows_so_far_sql` as a DataFrame."""
    expression = rows_so_far_sql(session, source, consumer, reading)
    return session.sql(f"select * from {expression}")


def changes(session: SparkSession, source: str, consumer: str | None, reading: Reading) -> Changes:
    """What became of the table `source` since `consumer` read it; noted in `reading`.

    For tables whose new rows `new_rows_sql` can't tell from others.  The table is one with row
    lineage (format version 3); rows that only moved to another file have not changed.
    `consumer`: its name, or None to take everything as changed.
    """
    table = iceberg_table(session, source)
    newest = next(snapshots(session, table), None)
    reading.up_to[source] = _NOTHING if newest is None else newest.id
    nothing = _nothing_of(source, "*")
    if newest is None:
        return Changes(nothing, nothing)
    watermark = _watermark(session, consumer, source) if consumer is not None else None
    if watermark == newest.id:
        return Changes(f"(select * from {source} version as of {watermark})", nothing)
    reading.has_new_rows = True
    if watermark is None:
        return Changes(nothing, f"(select * from {source} version as of {newest.id})")
    noted = next(snapshots(session, table, watermark), None)
    if noted is None:
        raise _rebuilt(source, str(consumer))
    return Changes(
        f"(select * from {source} version as of {watermark})",
        f"(select * from {source} version as of {newest.id}"
        f" where _last_updated_sequence_number > {noted.sequence_number})",
    )


def unread_rows(session: SparkSession, name: str, consumer: str | None) -> tuple[str, int]:
    """What was appended to a table and `consumer` has not read: as `new_rows_sql`, and how many.

    The number is known without a query, from the summaries of the snapshots.
    `consumer`: its name, or None where it is not there.
    """
    newest = next(snapshots(session, iceberg_table(session, name)), None)
    if newest is None:
        return _nothing_of(name, "*"), 0
    watermark = _watermark(session, consumer, name) if consumer is not None else None
    if watermark is None:
        rows = _appended_rows(session, name, "*", None, newest.id)
        return rows, int(newest.summary["total-records"])
    count = _count_appended(session, name, newest.id, watermark, str(consumer))
    if not count:
        return _nothing_of(name, "*"), 0
    return _appended_rows(session, name, "*", watermark, newest.id), count


def _new_rows_of_table(
    session: SparkSession, name: str, consumer: str | None, reading: Reading, columns: str
) -> str:
    up_to = reading.up_to[name] = _end(session, name, consumer, reading)
    if up_to == _NOTHING:
        return _nothing_of(name, columns)
    watermark = _watermark(session, consumer, name) if consumer is not None else None
    if watermark is not None and not _count_appended(
        session, name, up_to, watermark, str(consumer)
    ):
        return _nothing_of(name, columns)
    reading.has_new_rows = True
    return _appended_rows(session, name, columns, watermark, up_to)


def _end(session: SparkSession, name: str, consumer: str | None, reading: Reading) -> int:
    """The snapshot up to which `consumer` reads `name` in this run, however often it asks.

    The newest that all those of its other inputs have read that were made from `name`;
    what the consumer has read before stays read.
    """
    if name not in reading.ends:
        table = iceberg_table(session, name)
        read_by = {}
        for other in reading.inputs:
            if other != name and name in _notes(session, other):
                end = _end(session, other, consumer, reading)
                read_by[other] = _notes(session, other, end).get(name, _NOTHING)
        watermark = _watermark(session, consumer, name) if consumer is not None else None
        reading.ends[name] = _newest_read_by_all(session, table, name, read_by, watermark)
    return reading.ends[name]


def _newest_read_by_all(
    session: SparkSession, table: Any, name: str, read_by: Mapping[str, int], watermark: int | None
) -> int:
    """`read_by`: input made from the table -> snapshot of the table up to which it had read.

    What brought no rows counts as read: a model whose inputs have no new rows takes no note.
    """
    behind = set(read_by.values())
    if table.currentSnapshot() is None or _NOTHING in behind:
        return watermark or _NOTHING
    end = None
    for snapshot in snapshots(session, table):
        end = snapshot.id if end is None else end
        behind.discard(snapshot.id)
        if not behind or snapshot.id == watermark:
            return end
        if _brings_rows(snapshot):
            end = None
    reader = next(other for other, read in read_by.items() if read in behind)
    raise _rebuilt(name, reader)


def _brings_rows(snapshot: Snapshot) -> bool:
    if snapshot.operation == "append":
        return snapshot.summary.get("added-records", "0") != "0"
    return snapshot.operation not in _WITHOUT_NEW_ROWS


def _notes(session: SparkSession, consumer: str, at: int | None = None) -> dict[str, int]:
    """What `consumer` had read by its snapshot `at`, None for its newest: input -> snapshot."""
    oldest = None
    for oldest in snapshots(session, iceberg_table(session, consumer), at):
        if notes := notes_of(oldest):
            return notes
    if oldest is not None and oldest.parent_id is not None:
        raise _expired(consumer)
    return {}


def notes_of(snapshot: Snapshot) -> dict[str, int]:
    """What a consumer noted with its snapshot: input -> up to which snapshot it was read."""
    return {
        name.removeprefix(WATERMARK): int(value)
        for name, value in snapshot.summary.items()
        if name.startswith(WATERMARK)
    }


def _appended_rows(
    session: SparkSession, name: str, columns: str, start: int | None, end: int
) -> str:
    """What was appended after snapshot `start`, up to `end`; None: all there was.

    Of an empty table a query that Spark knows to be empty, and leaves out with what it joins.
    """
    if start is None:
        if end == _NOTHING or _is_empty(session, name, end):
            return _nothing_of(name, columns)
        return f"(select {columns} from {name} version as of {end})"
    # Under a name of its own: Spark resolves a table once a query and drops the options of every
    # further use (SPARK-58330), so that a query over new and all rows would read either twice.
    return (
        f"(select {columns} from {name}.branch_main with (`start-snapshot-id` = '{start}',"
        f" `end-snapshot-id` = '{end}'))"
    )


def _is_empty(session: SparkSession, name: str, at: int) -> bool:
    snapshot = next(snapshots(session, iceberg_table(session, name), at))
    return snapshot.summary.get("total-records") == "0"


def _nothing_of(name: str, columns: str) -> str:
    return f"(select {columns} from {name} where false)"


def _watermark(
    session: SparkSession, consumer: str, source: str, at: int | None = None
) -> int | None:
    """The snapshot of `source` up to which `consumer` has read, by its newest note of it.

    `at`: the snapshot of `consumer` to ask, None for its newest.  None where it
    had never read it.
    """
    oldest, has_notes = None, False
    for oldest in snapshots(session, iceberg_table(session, consumer), at):
        notes = notes_of(oldest)
        if source in notes:
            return notes[source] or None
        has_notes = has_notes or bool(notes)
    if oldest is not None and oldest.parent_id is not None and not has_notes:
        raise _expired(consumer)
    return None


def _expired(consumer: str) -> DbtRuntimeError:
    return DbtRuntimeError(
        f"The snapshots that told what {consumer} has read have expired: rebuild it and"
        " what follows it with --full-refresh."
    )


def _count_appended(
    session: SparkSession, name: str, up_to: int, watermark: int, consumer: str
) -> int:
    """How many rows were appended to `name` after snapshot `watermark`, up to `up_to`."""
    if up_to == watermark:
        return 0
    count = 0
    for snapshot in snapshots(session, iceberg_table(session, name), up_to):
        if snapshot.id == watermark:
            return count
        if snapshot.operation == "append":
            count += int(snapshot.summary.get("added-records", "0"))
        elif snapshot.operation not in _WITHOUT_NEW_ROWS:
            raise DbtRuntimeError(
                f"{name} was overwritten (snapshot {snapshot.id}) after {consumer} read it, so"
                f" its new rows can't be told from its old ones: rebuild {consumer} and what"
                " follows it with --full-refresh."
            )
    raise _rebuilt(name, consumer)


def _rebuilt(name: str, consumer: str) -> DbtRuntimeError:
    return DbtRuntimeError(
        f"{name} was rebuilt, or its snapshots expired, after {consumer} read it: rebuild"
        f" {consumer} and what follows it with --full-refresh."
    )
